/* Part of racl (mock-acl). Runs the checks: a process for each, a time limit, a table and JUnit XML. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include "conform.h"

enum { FAILED = 1, SKIPPED = 77, MISSING = 127, OUTPUT = 16384 };

static conform_rule *rules;
static int failures;
static int is_child;

void conform_add(conform_rule *rule) {
    conform_rule **at = &rules;
    while (*at != NULL && (strcmp((*at)->file, rule->file) < 0 ||
                           (strcmp((*at)->file, rule->file) == 0 && (*at)->line < rule->line)))
        at = &(*at)->next;
    rule->next = *at;
    *at = rule;
}

/* ---- in the process of a check ---- */

static const char *base(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash == NULL ? file : slash + 1;
}

static void count_failure(void) { __atomic_fetch_add(&failures, 1, __ATOMIC_SEQ_CST); }

int conform_code(const char *file, int line, const char *call, int got, int one, int other) {
    if (got == one || got == other) return 1;
    if (one == other) printf("%s:%d: %s gave %d, not %d\n", base(file), line, call, got, one);
    else printf("%s:%d: %s gave %d, not %d or %d\n", base(file), line, call, got, one, other);
    count_failure();
    return 0;
}

int conform_true(const char *file, int line, const char *condition, int holds) {
    if (holds) return 1;
    printf("%s:%d: not so: %s\n", base(file), line, condition);
    count_failure();
    return 0;
}

#ifdef MOCK_COVERAGE
#ifdef __cplusplus
extern "C"
#endif
void __gcov_dump(void);
#endif

static void leave(int status) {
    fflush(stdout);
#ifdef MOCK_COVERAGE
    __gcov_dump();
#endif
    _exit(status);
}

void conform_need(const char *file, int line, const char *call, int code) {
    if (code == 0) return;
    if (code == -1) printf("%s:%d: not so, the check ends: %s\n", base(file), line, call);
    else printf("%s:%d: %s gave %d, the check ends\n", base(file), line, call, code);
    const char *text = code == -1 ? NULL : aclGetRecentErrMsg();
    if (text != NULL) printf("    %s\n", text);
    leave(FAILED);
}

void conform_skip(const char *reason) {
    printf("%s\n", reason);
    leave(failures > 0 ? FAILED : SKIPPED);
}

void conform_text(const char *file, int line, const char *part) {
    const char *text = aclGetRecentErrMsg();
    if (text != NULL && strstr(text, part) != NULL) return;
    printf("%s:%d: the error text has no \"%s\": %s\n", base(file), line, part, text == NULL ? "(none)" : text);
    count_failure();
}

static void at_end(void) {
    if (is_child && failures > 0) leave(FAILED);
}

static void run_child(const conform_rule *rule, int out) {
    is_child = 1;
    setpgid(0, 0);
    dup2(out, 1);
    dup2(out, 2);
    close(out);
    if (rule->variable != NULL) {
        static char copy[256];
        snprintf(copy, sizeof copy, "%s", rule->variable);
        putenv(copy);
    }
    atexit(at_end);
    rule->run();
    leave(failures > 0 ? FAILED : 0);
}

/* ---- in the parent ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Reads what the check says until it ends or its time is over. True: it ended by itself. */
static int listen_to(int in, char *text, double until) {
    size_t used = 0;
    for (;;) {
        const double left = until - now();
        if (left <= 0) break;
        struct pollfd p;
        p.fd = in;
        p.events = POLLIN;
        p.revents = 0;
        if (poll(&p, 1, (int)(left * 1000) + 1) <= 0) continue;
        char part[4096];
        const ssize_t got = read(in, part, sizeof part);
        if (got <= 0) {
            text[used] = 0;
            return 1;
        }
        const size_t fits = OUTPUT - 1 - used < (size_t)got ? OUTPUT - 1 - used : (size_t)got;
        memcpy(text + used, part, fits);
        used += fits;
    }
    text[used] = 0;
    return 0;
}

typedef struct result {
    const char *word; /* passed, failed, crashed, timeout, skipped, missing */
    char text[OUTPUT];
    double seconds;
} result;

static void judge(result *r, int ended, int status) {
    char note[64];
    if (!ended) {
        r->word = "timeout";
        return;
    }
    if (WIFEXITED(status)) {
        const int code = WEXITSTATUS(status);
        r->word = code == 0 ? "passed" : code == SKIPPED ? "skipped" : "failed";
        /* The dynamic linker ends a process that calls what the library does not have. */
        if (code == MISSING && strstr(r->text, "symbol lookup error") != NULL) r->word = "missing";
        return;
    }
    r->word = "crashed";
    snprintf(note, sizeof note, "signal %d\n", WTERMSIG(status));
    strncat(r->text, note, OUTPUT - 1 - strlen(r->text));
}

static void run_rule(const conform_rule *rule, double limit, result *r) {
    const double start = now();
    int ends[2], status = 0;
    r->text[0] = 0;
    /* The report too: a check that ends by exit() would write what is still in its copy of the buffer. */
    fflush(NULL);
    if (pipe(ends) != 0) {
        r->word = "failed";
        return;
    }
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        run_child(rule, ends[1]);
    }
    close(ends[1]);
    const int ended = pid > 0 && listen_to(ends[0], r->text, start + limit);
    /* Also what it left behind. */
    if (pid > 0) {
        if (!ended) kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        kill(-pid, SIGKILL);
    }
    close(ends[0]);
    judge(r, ended, status);
    r->seconds = now() - start;
}

static void xml(FILE *f, const char *text) {
    for (; *text != 0; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '<') fputs("&lt;", f);
        else if (c == '&') fputs("&amp;", f);
        else if (c == '"') fputs("&quot;", f);
        else if (c == '\n' || c == '\t' || (c >= 32 && c < 127)) fputc(c, f);
        else fputc('?', f);
    }
}

static void junit_case(FILE *f, const conform_rule *rule, const result *r) {
    fprintf(f, "<testcase classname=\"%s\" name=\"%s\" time=\"%.3f\">", rule->group, rule->name, r->seconds);
    if (strcmp(r->word, "skipped") == 0 || strcmp(r->word, "missing") == 0) {
        fputs("<skipped message=\"", f);
        xml(f, r->text);
        fputs("\"/>", f);
    } else if (strcmp(r->word, "passed") != 0) {
        fprintf(f, "<failure message=\"%s\">", r->word);
        xml(f, rule->source);
        fputs("\n", f);
        xml(f, r->text);
        fputs("</failure>", f);
    }
    fputs("</testcase>\n", f);
}

/* One line a check: result, group, name, source; then, indented, what it said. */
static void print_case(const conform_rule *rule, const result *r, int all) {
    const int good = strcmp(r->word, "passed") == 0;
    if (good && !all) return;
    printf("%s\t%s\t%s\t%s\n", r->word, rule->group, rule->name, rule->source);
    if (good) return;
    const char *line = r->text;
    while (*line != 0) {
        const size_t length = strcspn(line, "\n");
        printf("    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static int selected(const conform_rule *rule, const char *only) {
    char whole[256];
    if (only == NULL) return 1;
    snprintf(whole, sizeof whole, "%s.%s", rule->group, rule->name);
    return strstr(whole, only) != NULL;
}

static int usage(void) {
    fputs("usage: conformance [--list] [--all] [--only PART] [--limit SECONDS] [--junit FILE]\n"
          "  --list   names the checks and their sources\n"
          "  --all    prints a line for every check, not only for those that did not pass\n"
          "  --only   checks whose group.name has PART in it\n"
          "  --limit  time for each check; default 20\n"
          "  --junit  also writes JUnit XML\n", stderr);
    return 2;
}

int main(int count, char **words) {
    int list = 0, all = 0;
    const char *only = NULL, *junit = NULL;
    double limit = 20;
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(words[i], "--list") == 0) list = 1;
        else if (strcmp(words[i], "--all") == 0) all = 1;
        else if (value == NULL) return usage();
        else if (strcmp(words[i], "--only") == 0) only = words[++i];
        else if (strcmp(words[i], "--junit") == 0) junit = words[++i];
        else if (strcmp(words[i], "--limit") == 0 && atof(value) > 0) limit = atof(words[++i]);
        else return usage();
    }
    const int mock = dlsym(RTLD_DEFAULT, "mock_acl_version") != NULL;
    FILE *f = junit == NULL ? NULL : fopen(junit, "w");
    if (junit != NULL && f == NULL) {
        perror(junit);
        return 2;
    }
    if (f != NULL) fputs("<?xml version=\"1.0\"?>\n<testsuite name=\"acl-conformance\">\n", f);
    int passed = 0, skipped = 0, failed = 0, left_out = 0;
    static result r;
    for (const conform_rule *rule = rules; rule != NULL; rule = rule->next) {
        if (!selected(rule, only)) continue;
        const int of_mock = (rule->flags & CONFORM_MOCK) != 0 ||
                            (rule->variable != NULL && strncmp(rule->variable, "MOCK_", 5) == 0);
        if (list) {
            printf("%s\t%s\t%s\t%s\n", rule->group, rule->name, of_mock ? "mock" : "any", rule->source);
            continue;
        }
        if (of_mock && !mock) {
            left_out++;
            continue;
        }
        run_rule(rule, limit, &r);
        if (strcmp(r.word, "passed") == 0) passed++;
        else if (strcmp(r.word, "skipped") == 0 || strcmp(r.word, "missing") == 0) skipped++;
        else failed++;
        print_case(rule, &r, all);
        if (f != NULL) junit_case(f, rule, &r);
    }
    if (f != NULL) {
        fputs("</testsuite>\n", f);
        if (fclose(f) != 0) perror(junit);
    }
    if (!list)
        printf("%d passed, %d failed, %d skipped, %d of the mock alone left out\n", passed, failed, skipped, left_out);
    return failed > 0 || (!list && passed == 0) ? 1 : 0;
}
