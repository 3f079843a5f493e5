/* Part of racl (mock-acl). The reader of configurations. */
#include "check.h"
#include "base/base.h"

static mock_json parse(const char *text) { return mock_json_parse(text, strlen(text)); }
static bool good(const char *text) { return parse(text).at != NULL; }

static void values(void) {
    static const char *const right[] = {"0", "-0", "12", "1.5", "-1.5e+10", "1E9", "true", "false", "null", "\"\"",
        "[]", "{}", " [ 1 , 2 ] ", "{\"a\":{\"b\":[]}}", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00fF\"", "\"\xc3\xa9\"",
        "\"\xf4\x8f\xbf\xbf\"", "\"\x7f\""};
    static const char *const wrong[] = {"", " ", "+1", "01", "-", "1.", ".5", "1e", "1e+", "tru", "True", "nul", "\"",
        "\"\\\"", "\"\\x\"", "\"\\u12g4\"", "\"\\u123", "\"\t\"", "[1,]", "[,1]", "[1 2]", "[", "]", "{\"a\"}",
        "{\"a\":}", "{a:1}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{1:2}", "1 2", "\"\xc3\"", "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\x80\"", "\"\xe2\x82\"", "'a'", "{\"a\":1}x", "NaN"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        if (!good(right[i])) fprintf(stderr, "refused: %s\n", right[i]), exit(1);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (good(wrong[i])) fprintf(stderr, "accepted: %s\n", wrong[i]), exit(1);
}

/* Every text cut short is refused and read no further: the buffers end where the texts do. */
static void cut_short(void) {
    const char *text = "{\"a\":[1.5e+3,\"\\u00e9\xe2\x82\xac\",true,null],\"b\":{\"c\":-0}}";
    for (size_t n = 0; n < strlen(text); n++) {
        char *copy = malloc(n == 0 ? 1 : n);
        CHECK(copy != NULL);
        memcpy(copy, text, n);
        CHECK(mock_json_parse(copy, n).at == NULL);
        free(copy);
    }
    CHECK(good(text));
}

static void deep(char open, char close) {
    char text[64];
    for (int depth = 1; depth <= 12; depth++) {
        size_t n = 0;
        for (int i = 0; i < depth; i++) {
            text[n++] = open;
            if (open == '{' && i + 1 < depth) n += (size_t)sprintf(text + n, "\"\":");
        }
        for (int i = 0; i < depth; i++) text[n++] = close;
        text[n] = '\0';
        CHECK(good(text) == (depth <= MOCK_JSON_DEPTH));
    }
}

static void members(void) {
    const mock_json root = parse("{ \"a\" : 1, \"b\":[ \"x\" , {}, 3 ], \"a\": \"last\", \"c\\n\":2, \"\":null }");
    CHECK(mock_json_kind(root) == '{');
    CHECK(mock_json_is(mock_json_member(root, "a"), "last"));
    CHECK(mock_json_kind(mock_json_member(root, "")) == 'n');
    CHECK(mock_json_member(root, "of nobody").at == NULL);
    CHECK(mock_json_member(root, "c\n").at == NULL);
    CHECK(mock_json_member(mock_json_member(root, "a"), "a").at == NULL);
    const mock_json list = mock_json_member(root, "b");
    mock_json item = mock_json_first(list);
    CHECK(mock_json_is(item, "x"));
    item = mock_json_after(list, item);
    CHECK(mock_json_kind(item) == '{' && mock_json_first(item).at == NULL);
    item = mock_json_after(list, item);
    CHECK(mock_json_kind(item) == '0' && mock_json_characters(item).length == 1);
    CHECK(mock_json_after(list, item).at == NULL);
    CHECK(mock_json_first(parse("[ ]")).at == NULL);
    CHECK(mock_json_kind((mock_json){NULL, 0}) == 0);
}

static void characters(void) {
    CHECK(mock_json_characters(parse("\"12\"")).length == 2);
    CHECK(mock_json_characters(parse("-12")).length == 3);
    CHECK(mock_json_characters(parse("\"1\\u0032\"")).at == NULL);
    CHECK(mock_json_characters(parse("true")).at == NULL);
    CHECK(!mock_json_is(parse("12"), "12"));
}

/* Random changes of a good text: never a crash, and what is accepted can be walked through. */
static void changed(void) {
    static const char text[] = "{\"a\":[1.5e3,\"\\u00e9\",true],\"b\":{\"c\":-0}}";
    static const char set[] = "{}[]\",:\\u019eE+-.tn \x80\xc3\xa9";
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        char copy[sizeof text];
        memcpy(copy, text, sizeof text);
        for (int i = 0; i < 3; i++) {
            seed = seed * 1664525u + 1013904223u;
            copy[(seed >> 8) % (sizeof text - 1)] = set[(seed >> 20) % (sizeof set - 1)];
        }
        const mock_json root = mock_json_parse(copy, sizeof text - 1);
        const mock_json list = mock_json_member(root, "a");
        int items = 0;
        for (mock_json item = mock_json_first(list); item.at != NULL; item = mock_json_after(list, item)) items++;
        CHECK(items < (int)sizeof text);
    }
}

int main(void) {
    values();
    cut_short();
    deep('[', ']');
    deep('{', '}');
    members();
    characters();
    changed();
    return 0;
}
