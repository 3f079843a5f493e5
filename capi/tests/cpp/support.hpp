// Checks that hold with exceptions and with error codes. A check that fails ends the program.
#ifndef SUPPORT_HPP
#define SUPPORT_HPP

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "racl_plan.hpp"

static int checks;

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            std::fprintf(stderr, "%s:%d: %s\n    last error: %s\n", __FILE__, __LINE__, #what,                        \
                         racl_last_error_message());                                                                   \
            std::exit(1);                                                                                              \
        }                                                                                                              \
        ++checks;                                                                                                      \
    } while (0)

#ifdef RACL_ERROR_CODES

template <class T>
static T take(racl::result<T> &&result) {
    CHECK(result);
    return *std::move(result);
}
static void take(racl::result<void> &&result) { CHECK(result); }
#define REFUSED(call, status)                                                                                          \
    do {                                                                                                               \
        auto result_ = (call);                                                                                         \
        CHECK(!result_);                                                                                               \
        CHECK(result_.error() == racl::make_error_code(status));                                                       \
    } while (0)

#else

template <class T>
static T take(T &&value) { return std::move(value); }
#define REFUSED(call, status)                                                                                          \
    do {                                                                                                               \
        bool thrown_ = false;                                                                                          \
        try {                                                                                                          \
            (void)(call);                                                                                              \
        } catch (const racl::error &error) {                                                                           \
            thrown_ = true;                                                                                            \
            CHECK(error.code() == racl::make_error_code(status));                                                      \
            CHECK(std::string(error.what()).size() > 10);                                                              \
        }                                                                                                              \
        CHECK(thrown_);                                                                                                \
    } while (0)

#endif

// What gives no value is taken in both.
#ifdef RACL_ERROR_CODES
#define DO(call) take(call)
#else
#define DO(call)                                                                                                       \
    do {                                                                                                               \
        call;                                                                                                          \
        ++checks;                                                                                                      \
    } while (0)
#endif

#endif
