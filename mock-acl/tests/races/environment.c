/* MOCK_ACL_RACES: what each value turns on, and what is said of others. The variable is read once, so each value has a
 * process of its own. */
#include <sys/wait.h>
#include <unistd.h>
#include "races/racy.h"

/* Two streams fill the same memory. */
static void race(aclError of_later) {
    up();
    aclrtStream a = new_stream(), b = new_stream();
    void *p = device(BYTES);
    mock_acl_hold_stream(b); /* before it has work: a worker may run that at once */
    fill(p, BYTES, a);
    fill(p, BYTES, b);
    wait_for(a);
    mock_acl_release_stream(b);
    CODE(aclrtSynchronizeStream(b), of_later);
}

static void child(const char *how) {
    const int fails = strcmp(how, "fail") == 0, on = strcmp(how, "off") != 0;
    race(fails ? ACL_ERROR_RT_DEVICE_MEM_ERROR : 0);
    CHECK(mock_acl_race_count() == (on ? 1u : 0u));
    const int mode = fails ? MOCK_ACL_RACES_FAIL : on ? MOCK_ACL_RACES_REPORT : MOCK_ACL_RACES_OFF;
    CHECK(mock_acl_check_races(MOCK_ACL_RACES_OFF) == mode);
    /* What a test says comes before the variable, also after a new beginning. */
    race(0);
    CHECK(mock_acl_race_count() == 0);
}

/* What a process with this value says on standard error. */
static void said(const char *self, const char *text, const char *how, char *words, size_t size) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        if (text == NULL) unsetenv("MOCK_ACL_RACES");
        else setenv("MOCK_ACL_RACES", text, 1);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        execl(self, self, how, (char *)NULL);
        _exit(2);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got = 1; got > 0 && length + 1 < size; length += got > 0 ? (size_t)got : 0)
        got = read(ends[0], words + length, size - 1 - length);
    words[length] = '\0';
    close(ends[0]);
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (status != 0) fprintf(stderr, "%s as %s: %s\n", text == NULL ? "none" : text, how, words);
    CHECK(status == 0);
}

int main(int count, char **words) {
    if (count > 1) {
        child(words[1]);
        return 0;
    }
    const struct {
        const char *text, *how, *says;
    } cases[] = {{NULL, "off", NULL}, {"", "off", NULL}, {"off", "off", NULL}, {"report", "report", NULL},
        {"fail", "fail", NULL}, {"Report", "report", "MOCK_ACL_RACES=\"Report\" is not off, report or fail"},
        {"1", "report", "report is used"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096];
        said(words[0], cases[i].text, cases[i].how, text, sizeof text);
        const int on = strcmp(cases[i].how, "off") != 0;
        CHECK((strstr(text, "mock-acl: race 1: aclrtMemsetAsync") != NULL) == on);
        CHECK(strstr(text, "race 2") == NULL);
        CHECK((strstr(text, "is not off, report or fail") != NULL) == (cases[i].says != NULL));
        CHECK(cases[i].says == NULL || strstr(text, cases[i].says) != NULL);
    }
    /* A long value is cut. */
    char value[5000], text[8192];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    said(words[0], value, "report", text, sizeof text);
    CHECK(strstr(text, "is not off") != NULL && strlen(text) < 2000);
    return 0;
}
