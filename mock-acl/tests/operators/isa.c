/* The choice of instructions, in processes of their own, and that products do not depend on what should not
 * matter under any of them. */
#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>

#include "objects/objects.h"
#include "operators/products/products.h"
#include "operators/support.h"

#define M 29
#define N 71
#define K 530

typedef struct products {
    float out[M * N];
} products;

static float noise(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (float)((double)(*state >> 11) * 0x1p-52 - 1);
}

/* a and b row by row, and the same transposed. */
typedef struct factors {
    float a[M * K], b[K * N], a_turned[K * M], b_turned[N * K];
} factors;

static factors *make_factors(void) {
    factors *f = malloc(sizeof *f);
    uint64_t state = 88172645463325252u;
    CHECK(f != NULL);
    for (int i = 0; i < M; i++) {
        for (int p = 0; p < K; p++) f->a_turned[p * M + i] = f->a[i * K + p] = noise(&state);
    }
    for (int p = 0; p < K; p++) {
        for (int j = 0; j < N; j++) f->b_turned[j * K + p] = f->b[p * N + j] = noise(&state);
    }
    return f;
}

static void close_to_exact(const factors *f, const float *out) {
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int p = 0; p < K; p++) sum += (double)f->a[i * K + p] * f->b[p * N + j];
            CHECK(fabs(sum - out[i * N + j]) < 1e-4);
        }
    }
}

/* Every layout, every split into rows and columns: the same bits. */
static void layouts_and_parts_agree(const factors *f, const float *want) {
    const mock_strided as[] = {{f->a, K, 1, ACL_FLOAT}, {f->a_turned, 1, M, ACL_FLOAT}};
    const mock_strided bs[] = {{f->b, N, 1, ACL_FLOAT}, {f->b_turned, 1, K, ACL_FLOAT}};
    const int sizes[] = {1, 2, 3, 4, 5, 8, 12, 13, 24, 32, 33};
    float got[M * N], turned[N * M];
    for (int x = 0; x < 4; x++) {
        const mock_strided a = as[x & 1], b = bs[x >> 1];
        CHECK(mock_gemm_strided(M, N, K, a, b, got, N, 1));
        CHECK(memcmp(got, want, sizeof got) == 0);
        CHECK(mock_gemm_strided(M, N, K, a, b, turned, 1, M));
        for (int i = 0; i < M * N; i++) CHECK(turned[i % N * M + i / N] == want[i]);
        for (int s = 0; s < 11; s++) {
            for (int i = 0; i < M; i += sizes[s]) {
                mock_strided part = a;
                part.data = (const float *)a.data + i * a.row;
                const int rows = M - i < sizes[s] ? M - i : sizes[s];
                CHECK(mock_gemm_strided((size_t)rows, N, K, part, b, got + i * N, N, 1));
            }
            CHECK(memcmp(got, want, sizeof got) == 0);
            for (int j = 0; j < N; j += sizes[s]) {
                mock_strided part = b;
                part.data = (const float *)b.data + j * b.column;
                const int columns = N - j < sizes[s] ? N - j : sizes[s];
                CHECK(mock_gemm_strided(M, (size_t)columns, K, a, part, got + j, N, 1));
            }
            CHECK(memcmp(got, want, sizeof got) == 0);
        }
    }
}

static void child(const char *name, mock_isa expected, int to) {
    static products made;
    setenv("MOCK_ACL_ISA", name, 1);
    CHECK(mock_isa_used() == expected);
    setenv("MOCK_ACL_ISA", "baseline", 1);
    CHECK(mock_isa_used() == expected);
    factors *f = make_factors();
    const mock_matrix a = {f->a, K, ACL_FLOAT}, b = {f->b, N, ACL_FLOAT};
    CHECK(mock_gemm(M, N, K, a, b, made.out, N));
    close_to_exact(f, made.out);
    layouts_and_parts_agree(f, made.out);
    free(f);
    CHECK(write(to, &made, sizeof made) == (ssize_t)sizeof made);
}

/* Runs it with the name; what it wrote on standard error goes to `text`. */
static void in_a_process(const char *name, mock_isa expected, products *made, char *text, size_t size) {
    int result[2], error[2];
    CHECK(pipe(result) == 0 && pipe(error) == 0);
    const pid_t id = fork();
    if (id == 0) {
        dup2(error[1], 2);
        child(name, expected, result[1]);
        exit(0);
    }
    close(result[1]);
    close(error[1]);
    size_t have = 0;
    ssize_t n = 0;
    while (have < sizeof *made && (n = read(result[0], (char *)made + have, sizeof *made - have)) > 0) {
        have += (size_t)n;
    }
    size_t used = 0;
    while (used + 1 < size && (n = read(error[0], text + used, size - 1 - used)) > 0) used += (size_t)n;
    text[used] = '\0';
    int status = -1;
    CHECK(waitpid(id, &status, 0) == id);
    if (status != 0 || have != sizeof *made) fprintf(stderr, "%s: %s\n", name, text);
    CHECK(status == 0 && have == sizeof *made);
    close(result[0]);
    close(error[0]);
}

int main(void) {
    static products first, again, all[MOCK_ISAS];
    char text[400];
    mock_isa best = MOCK_ISA_BASELINE;
    for (mock_isa isa = 0; isa < MOCK_ISAS; isa++) {
        if (mock_isa_available(isa)) best = isa;
    }
    for (mock_isa isa = 0; isa < MOCK_ISAS; isa++) {
        const bool here = mock_isa_available(isa);
        in_a_process(mock_isa_name(isa), here ? isa : best, &all[isa], text, sizeof text);
        CHECK(here ? text[0] == '\0' : strstr(text, "is not available here") != NULL);
        in_a_process(mock_isa_name(isa), here ? isa : best, &again, text, sizeof text);
        CHECK(memcmp(&all[isa], &again, sizeof again) == 0);
        for (int i = 0; i < M * N; i++) CHECK(fabsf(all[isa].out[i] - all[0].out[i]) < 1e-4f);
    }
    in_a_process("", best, &first, text, sizeof text);
    CHECK(text[0] == '\0' && memcmp(&first, &all[best], sizeof first) == 0);
    in_a_process("sse9", best, &first, text, sizeof text);
    CHECK(strstr(text, "MOCK_ACL_ISA=\"sse9\" is not baseline, avx2, avx512 or neon; ") != NULL);
    CHECK(strchr(text, '\n') == strrchr(text, '\n') && memcmp(&first, &all[best], sizeof first) == 0);
    puts("op_isa: ok");
    return 0;
}
