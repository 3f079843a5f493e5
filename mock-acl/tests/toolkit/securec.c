/* Checked copies and texts: what is done, what is refused, and what becomes of the destination then. */
#include "check.h"
#include "securec.h"

static char buffer[16];

static void fresh(void) { memcpy(buffer, "0123456789abcdef", 16); }
static int is(const char *text) { return strcmp(buffer, text) == 0; }
static int all_zero(size_t n) {
    size_t i = 0;
    while (i < n && buffer[i] == 0) i++;
    return i == n && buffer[n] != 0;
}

static void memory(void) {
    fresh();
    CODE(memcpy_s(buffer, 4, "wxyz", 4), EOK);
    CHECK(memcmp(buffer, "wxyz4", 5) == 0);
    CODE(memcpy_s(buffer, 8, NULL, 0), EINVAL_AND_RESET);
    CHECK(all_zero(8));
    fresh();
    CODE(memcpy_s(buffer, 4, "wxyzw", 5), ERANGE_AND_RESET);
    CHECK(all_zero(4));
    fresh();
    CODE(memcpy_s(buffer + 1, 8, buffer, 4), EOVERLAP_AND_RESET);
    CHECK(buffer[0] == '0' && buffer[1] == 0 && buffer[8] == 0 && buffer[9] == '9');
    fresh();
    CODE(memcpy_s(buffer, 8, buffer + 1, 4), EOVERLAP_AND_RESET);
    fresh();
    CODE(memcpy_s(buffer, 8, buffer + 4, 4), EOK); /* side by side */
    CHECK(memcmp(buffer, "4567456", 7) == 0);
    CODE(memcpy_s(buffer, 8, buffer, 8), EOK);
    CODE(memcpy_s(NULL, 8, "a", 1), EINVAL);
    CODE(memcpy_s(buffer, 0, "a", 0), ERANGE);
    CODE(memcpy_s(buffer, SECUREC_MEM_MAX_LEN + 1, "a", 1), ERANGE);
    fresh();
    CODE(memmove_s(buffer + 1, 8, buffer, 4), EOK);
    CHECK(memcmp(buffer, "001235", 6) == 0);
    CODE(memmove_s(buffer, 2, buffer + 4, 3), ERANGE_AND_RESET);
    CHECK(all_zero(2));
    fresh();
    CODE(memset_s(buffer, 4, 'x', 2), EOK);
    CHECK(memcmp(buffer, "xx23", 4) == 0);
    CODE(memset_s(buffer, 4, 'y', 5), ERANGE_AND_RESET);
    CHECK(memcmp(buffer, "yyyy4", 5) == 0);
    CODE(memset_s(NULL, 4, 0, 4), EINVAL);
    CODE(memset_s(buffer, 0, 0, 0), ERANGE);
}

static void texts(void) {
    fresh();
    CODE(strcpy_s(buffer, 4, "abc"), EOK);
    CHECK(is("abc"));
    CODE(strcpy_s(buffer, 4, "abcd"), ERANGE_AND_RESET);
    CHECK(is(""));
    CODE(strcpy_s(buffer, 4, NULL), EINVAL_AND_RESET);
    CODE(strcpy_s(NULL, 4, "a"), EINVAL);
    CODE(strcpy_s(buffer, 0, "a"), ERANGE);
    CODE(strcpy_s(buffer, 16, "hello"), EOK);
    CODE(strcpy_s(buffer, 16, buffer), EOK);
    CODE(strcpy_s(buffer, 16, buffer + 2), EOVERLAP_AND_RESET);
    CHECK(is(""));
    CODE(strncpy_s(buffer, 4, "abcdef", 3), EOK);
    CHECK(is("abc"));
    CODE(strncpy_s(buffer, 4, "abcdef", 4), ERANGE_AND_RESET);
    CODE(strncpy_s(buffer, 4, "ab", 9), EOK);
    CHECK(is("ab"));
    CODE(strncpy_s(buffer, 4, "ab", 0), EOK);
    CHECK(is(""));
    const char no_end[3] = {'x', 'y', 'z'};
    CODE(strncpy_s(buffer, 4, no_end, 3), EOK);
    CHECK(is("xyz"));
    CODE(strcat_s(buffer, 8, "1234"), EOK);
    CHECK(is("xyz1234"));
    CODE(strcat_s(buffer, 8, "5"), ERANGE_AND_RESET);
    CHECK(is(""));
    fresh();
    CODE(strcat_s(buffer, 8, "5"), EINVAL_AND_RESET); /* no end in 8 */
    CODE(strcpy_s(buffer, 8, "ab"), EOK);
    CODE(strncat_s(buffer, 8, "cdef", 2), EOK);
    CHECK(is("abcd"));
    CODE(strncat_s(buffer, 8, "efgh", 4), ERANGE_AND_RESET);
    char line[] = "a,b;;c";
    char *rest = NULL;
    CHECK(strcmp(strtok_s(line, ",;", &rest), "a") == 0 && strcmp(strtok_s(NULL, ",;", &rest), "b") == 0);
    CHECK(strcmp(strtok_s(NULL, ",;", &rest), "c") == 0 && strtok_s(NULL, ",;", &rest) == NULL);
    CHECK(strtok_s(line, NULL, &rest) == NULL && strtok_s(line, ",", NULL) == NULL);
}

static void formats(void) {
    CHECK(sprintf_s(buffer, 6, "%d-%s", 12, "ab") == 5 && is("12-ab"));
    CHECK(sprintf_s(buffer, 5, "%d-%s", 12, "ab") == -1 && is(""));
    CHECK(sprintf_s(NULL, 5, "x") == -1 && sprintf_s(buffer, 0, "x") == -1);
    CHECK(snprintf_s(buffer, 16, 15, "%s", "abc") == 3 && is("abc"));
    CHECK(snprintf_s(buffer, 16, 2, "%s", "abc") == -1 && is("ab")); /* cut at count */
    CHECK(snprintf_s(buffer, 3, 5, "%s", "abc") == -1 && is(""));    /* no room */
    CHECK(snprintf_s(buffer, 3, SIZE_MAX, "%s", "abc") == -1 && is("ab"));
    CHECK(snprintf_s(buffer, 3, SIZE_MAX, "%s", "ab") == 2 && is("ab"));
    CHECK(snprintf_truncated_s(buffer, 3, "%s", "abc") == 2 && is("ab"));
    CHECK(snprintf_truncated_s(buffer, 4, "%s", "abc") == 3 && is("abc"));
}

static void scans(void) {
    int i = 0;
    double d = 0;
    char word[8], two[2];
    CHECK(sscanf_s(" 12 abc 2.5", "%d %s %lf", &i, word, (unsigned)sizeof word, &d) == 3);
    CHECK(i == 12 && strcmp(word, "abc") == 0 && d == 2.5);
    CHECK(sscanf_s("abcdefgh", "%s", word, 8u) == -1 && word[0] == 0); /* and its end */
    CHECK(sscanf_s("abcdefg", "%s", word, 8u) == 1);
    CHECK(sscanf_s("xy7", "%2c%d", two, 2u, &i) == 2 && memcmp(two, "xy", 2) == 0 && i == 7);
    CHECK(sscanf_s("xy7", "%2c", two, 1u) == -1);
    CHECK(sscanf_s("ab]1,9", "%[]ab]%*d,%d%%", word, 8u, &i) == 2 && strcmp(word, "ab]") == 0 && i == 9);
    CHECK(sscanf_s("key=4", "key=%d", &i) == 1 && i == 4);
    CHECK(sscanf_s("key 4", "key=%d", &i) == 0);
    CHECK(sscanf_s("x", "%d", &i) == 0 && sscanf_s("  ", "%d", &i) == -1 && sscanf_s(NULL, "%d", &i) == -1);
    CHECK(sscanf_s("12345", "%3d%n", &i, &i) == 1 && i == 3);
    CHECK(sscanf_s("1", "%[", word, 8u) == -1 && sscanf_s("1", "%d", NULL) == -1);
}

int main(void) {
    memory();
    texts();
    formats();
    scans();
    return 0;
}
