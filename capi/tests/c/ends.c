/* What is told its end: memory of other code, functions for the log, also in a fork; captures that end elsewhere; and a
 * longjmp within a callback. */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plans.h"

static int part = 1; /* of the rounds */
static racl_context *context;
static racl_stream *stream;

static void count(void *user) { ++*(atomic_int *)user; }

static void memory_of_others(void) {
    atomic_int released = 0;
    racl_buffer *own, *theirs, *part, *none;
    void *address;
    unsigned char got[64];
    DO(racl_buffer_new(context, 64, &own));
    DO(racl_buffer_address(own, &address));
    /* One that nothing uses is told at once, and once. */
    DO(racl_buffer_ref_with(context, address, 64, count, &released, &theirs));
    CHECK(released == 0);
    DO(racl_buffer_free(theirs));
    CHECK(released == 1);
    /* A part, then work that a stream has, keep it. */
    DO(racl_buffer_ref_with(context, address, 64, count, &released, &theirs));
    DO(racl_buffer_slice(theirs, 0, 32, &part));
    DO(racl_buffer_free(theirs));
    CHECK(released == 1);
    DO(racl_mock_hold(stream));
    DO(racl_stream_fill(stream, part, 7));
    DO(racl_buffer_free(part));
    CHECK(released == 1);
    DO(racl_context_trim(context, 0, NULL));
    CHECK(released == 1);
    DO(racl_mock_release(stream));
    DO(racl_stream_synchronize(stream, -1));
    CHECK(released == 2);
    DO(racl_buffer_read(own, 0, got, sizeof got));
    CHECK(got[31] == 7);
    /* A graph. */
    racl_capture *capture;
    racl_graph *graph;
    DO(racl_buffer_ref_with(context, address, 64, count, &released, &theirs));
    DO(racl_capture_begin(stream, RACL_CAPTURE_RELAXED, &capture));
    DO(racl_stream_fill(stream, theirs, 1));
    DO(racl_capture_end(capture, &graph));
    DO(racl_buffer_free(theirs));
    CHECK(released == 2);
    DO(racl_graph_close(graph));
    CHECK(released == 3);
    /* Nobody is told of what was not taken, nor without a function. */
    CHECK(racl_buffer_ref_with(context, NULL, 64, count, &released, &none) == RACL_NULL_POINTER && none == NULL);
    CHECK(racl_buffer_ref_with(context, address, 0, count, &released, &none) == RACL_INVALID_ARGUMENT && none == NULL);
    DO(racl_buffer_ref_with(context, address, 64, NULL, &released, &theirs));
    DO(racl_buffer_close(theirs));
    CHECK(released == 3);
    DO(racl_buffer_close(own));
}

/* ---- Captures on two threads ---- */

static racl_capture *begun;
static racl_graph *ended;

static void *begin(void *mode) {
    DO(racl_capture_begin(stream, *(int32_t *)mode, &begun));
    return NULL;
}

static void *end(void *unused) {
    (void)unused;
    DO(racl_capture_end(begun, &ended));
    return NULL;
}

static void *give_up(void *unused) {
    (void)unused;
    DO(racl_capture_free(begun));
    return NULL;
}

static void on_a_thread(void *(*what)(void *), void *with) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, what, with) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static int number_of_errors(void) {
    racl_errors *errors;
    size_t number;
    DO(racl_context_take_errors(context, &errors));
    DO(racl_errors_count(errors, &number));
    DO(racl_errors_free(errors));
    return (int)number;
}

static void captures(void) {
    racl_buffer *buffer;
    racl_graph *graph;
    unsigned char got[4];
    int32_t is;
    DO(racl_buffer_new(context, 4, &buffer));
    DO(racl_buffer_write(buffer, 0, "\0\0\0\0", 4));
    /* A relaxed one gives its graph on any thread. */
    int32_t mode = RACL_CAPTURE_RELAXED;
    on_a_thread(begin, &mode);
    DO(racl_stream_is_capturing(stream, &is));
    CHECK(is == 1);
    DO(racl_stream_fill(stream, buffer, 1));
    DO(racl_capture_end(begun, &graph));
    DO(racl_stream_is_capturing(stream, &is));
    CHECK(is == 0);
    DO(racl_graph_launch(graph, stream));
    DO(racl_buffer_read(buffer, 0, got, 4));
    CHECK(got[3] == 1);
    DO(racl_graph_close(graph));
    begin(&mode);
    on_a_thread(end, NULL);
    DO(racl_graph_close(ended));
    /* One that is not stays where it is, and can be given up anywhere, though its thread is gone. */
    const int32_t modes[] = {RACL_CAPTURE_THREAD_LOCAL, RACL_CAPTURE_GLOBAL};
    for (int at = 0; at < 2; ++at) {
        mode = modes[at];
        on_a_thread(begin, &mode);
        DO(racl_stream_fill(stream, buffer, 2));
        CHECK(racl_capture_end(begun, &graph) == RACL_CAPTURE_WRONG_THREAD && graph == NULL);
        CHECK(racl_stream_synchronize(stream, -1) != RACL_OK);
        DO(racl_capture_free(begun));
        CHECK(racl_capture_free(begun) == RACL_STALE_HANDLE);
        DO(racl_stream_fill(stream, buffer, 3));
        DO(racl_buffer_read(buffer, 0, got, 4));
        CHECK(got[0] == 3);
        begin(&mode);
        on_a_thread(give_up, NULL);
        DO(racl_stream_synchronize(stream, -1));
        begin(&mode);
        DO(racl_capture_end(begun, &graph));
        DO(racl_graph_close(graph));
    }
    CHECK(number_of_errors() == 0);
    DO(racl_buffer_close(buffer));
}

/* ---- The log ---- */

typedef struct {
    atomic_int lines, released;
    sem_t inside, go, over;
} Log;

static void line(void *user, int32_t level, const char *target, const char *message) {
    (void)level, (void)target, (void)message;
    ++((Log *)user)->lines;
}

/* Stays inside until it may go on. */
static void slow_line(void *user, int32_t level, const char *target, const char *message) {
    line(user, level, target, message);
    Log *log = user;
    sem_post(&log->inside);
    sem_wait(&log->go);
    sem_post(&log->go);
}

static void last_line(void *user, int32_t level, const char *target, const char *message) {
    line(user, level, target, message);
    if (racl_log_set(RACL_LOG_OFF, NULL, NULL) != RACL_OK || ((Log *)user)->released != 0) abort();
}

static void release(void *user) {
    Log *log = user;
    ++log->released;
    sem_post(&log->over);
}

static int32_t fails(void *user, const void *attributes, size_t size) {
    (void)user, (void)attributes, (void)size;
    return 3;
}

/* Counts no checks: main makes some meanwhile. */
static void *log_a_line(void *unused) {
    (void)unused;
    if (racl_stream_host_function(stream, fails, NULL, NULL) != RACL_OK ||
        racl_stream_synchronize(stream, -1) != RACL_CALLBACK_PANICKED ||
        strstr(racl_last_error_message(), "a callback failed") == NULL ||
        strstr(racl_last_error_message(), "panicked") != NULL) {
        fprintf(stderr, "%s\n", racl_last_error_message());
        exit(1);
    }
    return NULL;
}

static Log *new_log(void) {
    Log *log = calloc(1, sizeof *log);
    CHECK(log != NULL);
    sem_init(&log->inside, 0, 0), sem_init(&log->go, 0, 0), sem_init(&log->over, 0, 0);
    return log;
}

static void ends_of_the_log(void) {
    Log *log = new_log(), *other = new_log();
    DO(racl_log_set_with(RACL_LOG_ERROR, line, log, release));
    log_a_line(NULL);
    CHECK(log->lines >= 1 && log->released == 0);
    CHECK(racl_log_set_with(9, line, other, release) == RACL_INVALID_ARGUMENT);
    DO(racl_log_set_with(RACL_LOG_ERROR, last_line, other, release));
    CHECK(log->released == 1 && other->released == 0);
    /* One that takes itself away is told when it has returned. */
    log_a_line(NULL);
    sem_wait(&other->over);
    CHECK(other->released == 1);
    DO(racl_log_set_with(RACL_LOG_OFF, NULL, log, release));
    CHECK(log->released == 1);
    free(log), free(other);
}

static int32_t set_in_a_fork(void) {
    Log log = {0};
    int32_t status = racl_log_set(RACL_LOG_ERROR, line, &log);
    return status == RACL_OK ? racl_log_set(RACL_LOG_OFF, NULL, NULL) : status;
}

/* Whether a fork can set a function and take it away. It ends so that nobody looks for what it lost: threads of the parent,
 * with what they had. */
static int fork_sets(void) {
    int ends[2];
    unsigned char how = 1;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(600); /* where it hangs */
        how = set_in_a_fork() != RACL_OK;
        if (write(ends[1], &how, 1) == 1) raise(SIGKILL);
        _exit(1);
    }
    close(ends[1]);
    CHECK(child > 0 && read(ends[0], &how, 1) == 1);
    CHECK(waitpid(child, NULL, 0) == child);
    close(ends[0]);
    return how == 0;
}

static atomic_int is_over;

static void *log_lines(void *unused) {
    while (!is_over) log_a_line(unused);
    return NULL;
}

static void forks(void) {
    Log *log = new_log();
    pthread_t thread;
    /* A call that another thread is inside has no end in the fork. */
    DO(racl_log_set(RACL_LOG_ERROR, slow_line, log));
    CHECK(pthread_create(&thread, NULL, log_a_line, NULL) == 0);
    sem_wait(&log->inside);
    CHECK(fork_sets());
    sem_post(&log->go);
    pthread_join(thread, NULL);
    /* Nor has a lock that it holds. */
    DO(racl_log_set(RACL_LOG_ERROR, line, log));
    CHECK(pthread_create(&thread, NULL, log_lines, NULL) == 0);
    for (int round = 0; round < 1 + 30 / part; ++round) CHECK(fork_sets());
    is_over = 1;
    pthread_join(thread, NULL);
    DO(racl_log_set(RACL_LOG_OFF, NULL, NULL));
    free(log);
}

/* ---- A jump within a callback ---- */

static void deep(jmp_buf *back) { longjmp(*back, 5); }

static int32_t jumps(void *user, const void *attributes, size_t size) {
    (void)attributes, (void)size;
    jmp_buf back;
    if (setjmp(back) == 0) deep(&back);
    ++*(atomic_int *)user;
    return racl_last_error_set(RACL_CALLBACK_PANICKED, "came back");
}

static void jumps_within(void) {
    atomic_int ran = 0;
    for (int round = 1; round < 3; ++round) {
        DO(racl_stream_host_function(stream, jumps, &ran, NULL));
        CHECK(racl_stream_synchronize(stream, -1) == RACL_CALLBACK_PANICKED && ran == round);
        CHECK(strstr(racl_last_error_message(), "came back"));
    }
    DO(racl_stream_synchronize(stream, -1));
}

int main(int count, char **arguments) {
    racl_library *library;
    if (count > 1) part = atoi(arguments[1]);
    DO(racl_library_open(NULL, &library));
    DO(racl_context_primary(library, 0, &context));
    DO(racl_stream_new(context, NULL, &stream));
    memory_of_others();
    captures();
    ends_of_the_log();
    forks();
    jumps_within();
    DO(racl_stream_close(stream));
    DO(racl_context_close(context));
    DO(racl_library_close(library));
    printf("%d checks\n", checks);
    return 0;
}
