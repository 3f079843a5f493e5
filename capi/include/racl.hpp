// racl: Ascend NPUs for C++17. MIT OR Apache-2.0.
//
// Owners over the handles of racl.h, which has the rules of each function; the names are those of C without the prefix.
// Owners can be moved and not copied; their destructors give the handle back. A handle that cannot be given back is
// told to destructor_handler().
//
// Failures. A call that fails throws racl::error, a std::system_error whose code is of racl::category(). With
// RACL_ERROR_CODES defined before this header racl throws nothing: functions give a racl::result, which has the value or
// the std::error_code. What the standard library throws remains, such as std::bad_alloc.
//
// Functions. What a function throws that this layer is given, and that racl calls, fails the work or the call, with its
// text; so does what it gives where that is a status other than RACL_OK, a std::error_code or, with RACL_ERROR_CODES, a
// racl::result with an error. An int32_t is read as a status, whatever it counts. One that gives something else does not
// compile. That of the log, and those that are only told of an end, have nobody to tell. An empty std::function is refused
// with RACL_NULL_POINTER by the call that it is given to; for the log it is none, and nothing is told of an end.
//
// Plans, the compile cache and the control of the mock are in racl_plan.hpp.
//
// Threads. As in racl.h; an owner is no lock: it must not be moved or destroyed while another thread uses it.
//
// The end of the program. Owners end before main() returns: one with static storage may be destroyed after what the
// AscendCL library keeps in such storage of its own, and its destructor calls a library then that is half gone.
#ifndef RACL_HPP
#define RACL_HPP

#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "racl.h"

#if __cplusplus < 201703L
#error "racl.hpp needs C++17"
#endif
#if !defined(__cpp_exceptions) && !defined(RACL_ERROR_CODES)
#error "racl.hpp throws: define RACL_ERROR_CODES where there are no exceptions"
#endif

// Of what there is once in a program, also where its libraries hide their symbols (-fvisibility=hidden).
#if defined(__GNUC__)
#define RACL_DETAIL_ONCE __attribute__((visibility("default")))
#else
#define RACL_DETAIL_ONCE
#endif

namespace racl {

// ---- What there is once in a program ----

// The category of the RACL_... statuses.
RACL_DETAIL_ONCE inline const std::error_category &category() noexcept {
    struct statuses final : std::error_category {
        const char *name() const noexcept override { return "racl"; }
        std::string message(int status) const override {
            const char *text = racl_status_name(status);
            return *text ? text : "status " + std::to_string(status);
        }
    };
    // Never destroyed: what ends behind main() may still have codes of it.
    alignas(statuses) static unsigned char place[sizeof(statuses)];
    static const statuses *const known = new (place) statuses;
    return *known;
}

inline std::error_code make_error_code(int32_t status) noexcept { return {status, category()}; }

// Called for a handle that a destructor could not give back, with the function and the text. Writes to stderr unless it
// is set; must not throw. Set it before other threads use racl.
using destructor_function = void (*)(const char *function, const char *message);
RACL_DETAIL_ONCE inline destructor_function &destructor_handler() noexcept {
    static destructor_function handler = [](const char *function, const char *message) {
        std::fprintf(stderr, "racl: %s: %s\n", function, message);
    };
    return handler;
}

// What throws and what gives codes have different types, and some functions another body where there are no exceptions:
// each has names of its own, so that parts of a program may differ.
#if !defined(RACL_ERROR_CODES)
#define RACL_DETAIL_FORM throwing
#elif defined(__cpp_exceptions)
#define RACL_DETAIL_FORM codes
#else
#define RACL_DETAIL_FORM codes_without_exceptions
#endif
inline namespace RACL_DETAIL_FORM {

// ---- Failures ----

// What racl knows of the last failure on the calling thread.
struct failure {
    int32_t status = racl_last_error_status();
    std::string message = racl_last_error_message();
    std::string call = racl_last_error_call(); // of AscendCL; "" for none
    int32_t code = racl_last_error_code();     // of this call
    std::string details = racl_last_error_details();
};

class RACL_DETAIL_ONCE error : public std::system_error {
public:
    explicit error(const failure &what)
        : std::system_error(make_error_code(what.status), what.message), message_(what.message),
          details_(what.details), call_(what.call), native_(what.code) {}
    // The message alone; what() has the name of the status behind it.
    const std::string &message() const noexcept { return message_; }
    // The message with all that is known beside it, a line each.
    const std::string &details() const noexcept { return details_; }
    // The AscendCL function that failed, "" for none, and its code.
    const std::string &call() const noexcept { return call_; }
    int32_t native_code() const noexcept { return native_; }

private:
    std::string message_;
    std::string details_;
    std::string call_;
    int32_t native_;
};

#ifdef RACL_ERROR_CODES

// A value, or the reason why there is none.
template <class T>
class [[nodiscard]] result {
public:
    result(int32_t status, T &&value) : code_(make_error_code(status)), value_(std::move(value)) {}
    explicit operator bool() const noexcept { return !code_; }
    const std::error_code &error() const noexcept { return code_; }
    // Only of a result that has one.
    T &operator*() & noexcept { return value_; }
    const T &operator*() const & noexcept { return value_; }
    T &&operator*() && noexcept { return std::move(value_); }
    T *operator->() noexcept { return &value_; }

private:
    std::error_code code_;
    T value_;
};

template <>
class [[nodiscard]] result<void> {
public:
    explicit result(int32_t status) : code_(make_error_code(status)) {}
    explicit operator bool() const noexcept { return !code_; }
    const std::error_code &error() const noexcept { return code_; }

private:
    std::error_code code_;
};

namespace detail {
inline result<void> check(int32_t status) { return result<void>(status); }
template <class T>
result<T> give(int32_t status, T &&value) { return result<T>(status, std::move(value)); }
} // namespace detail

#else

template <class T>
using result = T;

namespace detail {
inline void check(int32_t status) {
    if (status == RACL_OK) return;
    failure last;
    // Of a status that is not of racl's latest failure nothing more is known.
    if (last.status != status) last = {status, racl_status_name(status), "", 0, racl_status_name(status)};
    throw error(last);
}
template <class T>
T give(int32_t status, T &&value) {
    check(status);
    return std::move(value);
}
} // namespace detail

#endif

// ---- Owners ----

namespace detail {

template <class Traits>
class owner {
public:
    using handle = typename Traits::handle;
    owner() noexcept = default;
    // Takes a handle of C over.
    explicit owner(handle *taken) noexcept : handle_(taken) {}
    owner(owner &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    owner &operator=(owner &&other) noexcept {
        if (this != &other) {
            give_back();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~owner() { give_back(); }

    handle *get() const noexcept { return handle_; }
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    // The handle, which is the caller's then.
    handle *release() noexcept { return std::exchange(handle_, nullptr); }
    // racl_..._free with its status.
    result<void> reset() { return check(give_up(Traits::free)); }

protected:
    // Calls what ends the handle when it succeeds.
    template <class Function>
    int32_t give_up(Function &&function) {
        if (!handle_) return RACL_OK;
        int32_t status = function(handle_);
        if (status == RACL_OK) handle_ = nullptr;
        return status;
    }

private:
    void give_back() noexcept {
        if (handle_ && Traits::free(handle_) != RACL_OK && destructor_handler())
            destructor_handler()(Traits::name, racl_last_error_message());
        handle_ = nullptr;
    }

    handle *handle_ = nullptr;
};

#define RACL_DETAIL_OWNED(kind)                                                                                        \
    struct kind##_traits {                                                                                             \
        using handle = racl_##kind;                                                                                    \
        static constexpr const char *name = "racl_" #kind "_free";                                                     \
        static int32_t free(handle *taken) noexcept { return racl_##kind##_free(taken); }                              \
    }
RACL_DETAIL_OWNED(buffer);
RACL_DETAIL_OWNED(capture);
RACL_DETAIL_OWNED(context);
RACL_DETAIL_OWNED(errors);
RACL_DETAIL_OWNED(event);
RACL_DETAIL_OWNED(graph);
RACL_DETAIL_OWNED(host);
RACL_DETAIL_OWNED(library);
RACL_DETAIL_OWNED(stream);
RACL_DETAIL_OWNED(task_group);
RACL_DETAIL_OWNED(tensor);

template <class T>
struct unknown_type : std::false_type {};

// The number of the aclDataType of a C++ type.
template <class T>
constexpr int32_t data_type() {
    if constexpr (std::is_same_v<T, float>) return RACL_TYPE_FLOAT;
    else if constexpr (std::is_same_v<T, int8_t>) return RACL_TYPE_INT8;
    else if constexpr (std::is_same_v<T, int32_t>) return RACL_TYPE_INT32;
    else if constexpr (std::is_same_v<T, uint8_t>) return RACL_TYPE_UINT8;
    else if constexpr (std::is_same_v<T, int16_t>) return RACL_TYPE_INT16;
    else if constexpr (std::is_same_v<T, uint16_t>) return RACL_TYPE_UINT16;
    else if constexpr (std::is_same_v<T, uint32_t>) return RACL_TYPE_UINT32;
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
        return std::is_signed_v<T> ? RACL_TYPE_INT64 : RACL_TYPE_UINT64;
    else if constexpr (std::is_same_v<T, double>) return RACL_TYPE_DOUBLE;
    else if constexpr (std::is_same_v<T, bool>) return RACL_TYPE_BOOL;
    else if constexpr (std::is_same_v<T, std::complex<float>>) return RACL_TYPE_COMPLEX64;
    else if constexpr (std::is_same_v<T, std::complex<double>>) return RACL_TYPE_COMPLEX128;
    else static_assert(unknown_type<T>::value, "no aclDataType for this type; give its number");
}

// That elements of an aclDataType are read as T: as what they are, or as unsigned integers where C++ has no such type,
// which are truth values as bytes and floats of 16 and of 8 bits. A status that says so otherwise.
template <class T>
int32_t check_type(int32_t dtype) {
    bool is_one = dtype == data_type<T>();
    if constexpr (std::is_same_v<T, uint8_t>)
        is_one = is_one || dtype == RACL_TYPE_BOOL || (dtype >= RACL_TYPE_HIFLOAT8 && dtype <= RACL_TYPE_FLOAT8_E8M0);
    if constexpr (std::is_same_v<T, uint16_t>)
        is_one = is_one || dtype == RACL_TYPE_FLOAT16 || dtype == RACL_TYPE_BF16;
    if (is_one) return RACL_OK;
    const std::string text = "elements of the aclDataType " + std::to_string(dtype) + " read as those of " +
                             std::to_string(data_type<T>());
    return racl_last_error_set(RACL_INVALID_ARGUMENT, text.c_str());
}

// A limit in nanoseconds: the most that there can be for a longer one, 0 for none.
template <class Rep, class Period>
int64_t nanoseconds(std::chrono::duration<Rep, Period> limit) {
    using unit = std::chrono::duration<double, Period>;
    if (!(limit > limit.zero())) return 0;
    if (unit(limit) >= unit(std::chrono::nanoseconds::max())) return std::numeric_limits<int64_t>::max();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(limit).count();
}

// Waits for so long, for at most the 24 days that C takes; without time asks whether there is anything to wait for.
template <class Handle, class Rep, class Period>
int32_t wait(const Handle *handle, std::chrono::duration<Rep, Period> limit,
             int32_t (*synchronize)(const Handle *, int64_t), int32_t (*is_complete)(const Handle *, int32_t *)) {
    constexpr int64_t most = int64_t(std::numeric_limits<int32_t>::max()) * 1000 * 1000;
    const int64_t time = nanoseconds(limit);
    if (time > 0) return synchronize(handle, time < most ? time : most);
    int32_t is = 0;
    const int32_t status = is_complete(handle, &is);
    if (status != RACL_OK) return status;
    // How what is over ended is told by a wait.
    return is ? synchronize(handle, 1) : racl_last_error_set(RACL_TIMEOUT, "the work is not done, and no time is left");
}

// A list of errors, read and given back.
inline std::vector<failure> failures(racl_errors *list) {
    owner<errors_traits> errors(list);
    size_t count = 0;
    std::vector<failure> all;
    if (racl_errors_count(list, &count) != RACL_OK) return all;
    for (size_t at = 0; at < count; ++at) {
        racl_error one = {};
        one.size = sizeof one;
        if (racl_errors_get(list, at, &one) != RACL_OK) continue;
        // A library from before there were details says nothing of them.
        all.push_back({one.status, one.message, one.call, one.code, one.details ? one.details : one.message});
    }
    return all;
}

// Whether a handle is still there after a call that ends it failed so.
inline bool stays(int32_t status) noexcept {
    return status == RACL_BUSY || status == RACL_NO_HANDLES || status == RACL_CAPTURE_WRONG_THREAD;
}

// Made before a function of the program runs: whether a call of racl failed meanwhile, whose failure racl tells then.
class since {
    uint64_t before = racl_last_error_count();

public:
    bool failed() const { return racl_last_error_count() != before; }
    bool failed_with(int32_t status) const { return failed() && racl_last_error_status() == status; }
};

// Makes what is known of a failure the last one again, and gives its status.
inline int32_t put_back(int32_t status, const std::string &message, const std::string &call, int32_t code,
                        const std::string &details) {
    racl_error error = {};
    error.size = sizeof error;
    error.status = status;
    error.code = code;
    error.call = call.c_str();
    error.message = message.c_str();
    // A program that makes a failure itself may have left those of another one there.
    error.details = details.compare(0, message.size(), message) == 0 ? details.c_str() : nullptr;
    return racl_last_error_put(&error);
}

// What is thrown inside a callback, as the status of that, whose text racl tells of then. Called by a catch.
#if defined(__cpp_exceptions)
inline int32_t thrown_status(const since &begun) noexcept {
    try {
        throw;
    } catch (const error &thrown) {
        // One that was made where nothing had failed has RACL_OK, which would tell of no failure.
        const int32_t known = thrown.code().value(), status = known == RACL_OK ? RACL_CALLBACK_PANICKED : known;
        // The very failure that racl knows, of which it may know more than one error has.
        if (begun.failed_with(status) && thrown.message() == racl_last_error_message() &&
            thrown.details() == racl_last_error_details())
            return status;
        // What was destroyed on the way here may have failed, too.
        return put_back(status, thrown.message(), thrown.call(), thrown.native_code(), thrown.details());
    } catch (const std::exception &thrown) {
        return racl_last_error_set(RACL_CALLBACK_PANICKED, thrown.what());
    } catch (...) {
        return racl_last_error_set(RACL_CALLBACK_PANICKED, "what was thrown is no std::exception");
    }
}
#endif

// Runs what a callback of C does, and gives its status.
template <class Function>
int32_t guarded(Function &&function) noexcept {
#if defined(__cpp_exceptions)
    const since begun;
    try {
        return function();
    } catch (...) {
        return thrown_status(begun);
    }
#else
    return function();
#endif
}

// The status that says what a std::error_code says, whose text racl tells of then.
inline int32_t status_of_code(const std::error_code &code, const since &begun) {
    if (!code) return RACL_OK;
    const bool own = code.category() == category();
    if (own && begun.failed_with(code.value())) return code.value();
    return racl_last_error_set(own ? code.value() : RACL_CALLBACK_PANICKED, code.message().c_str());
}

template <class T>
struct is_result : std::false_type {};
#ifdef RACL_ERROR_CODES
template <class T>
struct is_result<result<T>> : std::true_type {};
#endif

// Runs a function of the program, and gives the status of what that gives.
template <class Function, class... Arguments>
int32_t status_of(Function &function, Arguments &&...arguments) {
    using given = std::decay_t<std::invoke_result_t<Function &, Arguments...>>;
    if constexpr (std::is_void_v<given>) {
        function(std::forward<Arguments>(arguments)...);
        return RACL_OK;
    } else {
        // No other number, which may be no status: a count, or true for what went well.
        constexpr bool known =
            std::is_same_v<given, int32_t> || std::is_same_v<given, std::error_code> || is_result<given>::value;
        static_assert(known, "a function gives nothing, a status, a std::error_code or, with RACL_ERROR_CODES, a racl::result");
        const since begun;
        const given done = function(std::forward<Arguments>(arguments)...);
        if constexpr (std::is_same_v<given, int32_t>) return done;
        else if constexpr (std::is_same_v<given, std::error_code>) return status_of_code(done, begun);
        else return status_of_code(done.error(), begun);
    }
}

// Runs what nobody can be told a failure of.
template <class Function>
void untold(Function &&function) noexcept {
#if defined(__cpp_exceptions)
    try {
        function();
    } catch (...) {
    }
#else
    function();
#endif
}

// What may have nothing to call: pointers, and what says so as std::function does.
template <class Function, class = void>
struct may_be_empty : std::bool_constant<std::is_pointer_v<Function> || std::is_member_pointer_v<Function>> {};
template <class Function>
struct may_be_empty<Function, std::void_t<decltype(std::declval<const Function &>().operator bool()),
                                          decltype(std::declval<const Function &>() == nullptr)>> : std::true_type {};

// Whether it has nothing to call. C is given NULL then, which it refuses.
template <class Function>
bool is_empty(const Function &function) {
    if constexpr (may_be_empty<Function>::value) return !function;
    else return static_cast<void>(function), false;
}

// A function of the program that says whether it failed, or none.
template <class... Arguments>
class code {
    std::function<int32_t(Arguments...)> run;

public:
    code() noexcept = default;
    code(std::nullptr_t) noexcept {}
    template <class Function, class Plain = std::decay_t<Function>,
              class = std::enable_if_t<!std::is_same_v<Plain, code> && std::is_invocable_v<Plain &, Arguments...>>>
    code(Function &&function) {
        if (is_empty(function)) return;
        run = [own = Plain(std::forward<Function>(function))](Arguments... arguments) mutable {
            return status_of(own, std::forward<Arguments>(arguments)...);
        };
    }
    explicit operator bool() const noexcept { return static_cast<bool>(run); }
    int32_t operator()(Arguments... arguments) const { return run(std::forward<Arguments>(arguments)...); }
};

// What runs on the host.
using host_code = code<>;

// The status of a call that takes an object of the program over where it succeeds. Where it fails the object stays, until
// the failure is thrown; with error codes it ends here. Its destructors may call racl and fail there, too, which is not
// what this call is to tell.
template <class T>
int32_t handed_over(int32_t status, std::unique_ptr<T> &object) {
    if (status == RACL_OK) {
        static_cast<void>(object.release());
        return status;
    }
#ifdef RACL_ERROR_CODES
    const failure why;
    const since kept;
    object.reset();
    if (kept.failed()) return put_back(status, why.message, why.call, why.code, why.details);
#endif
    return status;
}

inline int32_t call_user(void *user, const void *, size_t) {
    return guarded([&] { return (*static_cast<const host_code *>(user))(); });
}
inline void release_user(void *user) { delete static_cast<host_code *>(user); }
inline void call_and_release(void *user) {
    auto *function = static_cast<std::function<void()> *>(user);
    if (*function) untold(*function);
    delete function;
}

// A text whose length is asked for first.
template <class Function>
result<std::string> text(Function &&function) {
    size_t needed = 0;
    int32_t status = function(nullptr, size_t(0), &needed);
    std::string out(needed, '\0');
    if (status == RACL_OK && needed > 0) status = function(&out[0], out.size(), &needed);
    if (!out.empty()) out.pop_back(); // the zero
    return give(status, std::move(out));
}

// The texts of a list that is read and given back.
inline std::vector<std::string> messages(racl_errors *list) {
    std::vector<std::string> all;
    for (failure &one : failures(list)) all.push_back(std::move(one.message));
    return all;
}

} // namespace detail

// All that was wrong at the last failure on the calling thread: for plans, more than one.
inline result<std::vector<failure>> last_failures() {
    racl_errors *list = nullptr;
    int32_t status = racl_last_errors(&list);
    return detail::give(status, status == RACL_OK ? detail::failures(list) : std::vector<failure>());
}

class event : public detail::owner<detail::event_traits> {
public:
    using owner::owner;
    result<void *> raw() const {
        void *raw = nullptr;
        int32_t status = racl_event_raw(get(), &raw);
        return detail::give(status, std::move(raw));
    }
    result<void> synchronize() const { return detail::check(racl_event_synchronize(get(), -1)); }
    // RACL_TIMEOUT where it takes longer; without time, where it is not reached yet.
    template <class Rep, class Period>
    result<void> synchronize(std::chrono::duration<Rep, Period> limit) const {
        return detail::check(detail::wait(get(), limit, racl_event_synchronize, racl_event_is_complete));
    }
    result<bool> is_complete() const {
        int32_t is = 0;
        int32_t status = racl_event_is_complete(get(), &is);
        return detail::give(status, is != 0);
    }
    result<std::chrono::nanoseconds> elapsed_since(const event &start) const {
        uint64_t nanoseconds = 0;
        int32_t status = racl_event_elapsed(start.get(), get(), &nanoseconds);
        return detail::give(status, std::chrono::nanoseconds(nanoseconds));
    }
};

class buffer;

class tensor : public detail::owner<detail::tensor_traits> {
public:
    using owner::owner;
    result<int32_t> dtype() const {
        int32_t dtype = 0;
        int32_t status = racl_tensor_dtype(get(), &dtype);
        return detail::give(status, std::move(dtype));
    }
    result<std::vector<size_t>> shape() const {
        size_t rank = 0;
        int32_t status = racl_tensor_shape(get(), nullptr, 0, &rank);
        std::vector<size_t> sizes(rank);
        if (status == RACL_OK && rank > 0) status = racl_tensor_shape(get(), sizes.data(), sizes.size(), &rank);
        return detail::give(status, std::move(sizes));
    }
    // In elements.
    result<std::vector<size_t>> strides() const {
        size_t rank = 0;
        int32_t status = racl_tensor_strides(get(), nullptr, 0, &rank);
        std::vector<size_t> all(rank);
        if (status == RACL_OK && rank > 0) status = racl_tensor_strides(get(), all.data(), all.size(), &rank);
        return detail::give(status, std::move(all));
    }
    // Of a dense one, from its first element on: for copies in the order of a stream. It keeps the memory.
    result<buffer> memory() const;
    // All of its elements, which must lie densely.
    result<void> write(const void *data, size_t bytes) const {
        return detail::check(racl_tensor_write(get(), data, bytes));
    }
    result<void> read(void *data, size_t bytes) const { return detail::check(racl_tensor_read(get(), data, bytes)); }
    template <class T>
    result<void> write(const std::vector<T> &values) const {
        static_assert(std::is_trivially_copyable_v<T>);
        return write(values.data(), values.size() * sizeof(T));
    }
    // A DLManagedTensorVersioned, or a DLManagedTensor, which the other framework ends.
    result<void *> to_dlpack(bool versioned = true) const {
        void *managed = nullptr;
        int32_t status = racl_tensor_to_dlpack(get(), versioned, &managed);
        return detail::give(status, std::move(managed));
    }
};

class buffer : public detail::owner<detail::buffer_traits> {
public:
    using owner::owner;
    result<buffer> slice(size_t offset, size_t bytes) const {
        racl_buffer *part = nullptr;
        int32_t status = racl_buffer_slice(get(), offset, bytes, &part);
        return detail::give(status, buffer(part));
    }
    result<size_t> size() const {
        size_t bytes = 0;
        int32_t status = racl_buffer_size(get(), &bytes);
        return detail::give(status, std::move(bytes));
    }
    result<void *> address() const {
        void *address = nullptr;
        int32_t status = racl_buffer_address(get(), &address);
        return detail::give(status, std::move(address));
    }
    result<void> write(size_t offset, const void *data, size_t bytes) const {
        return detail::check(racl_buffer_write(get(), offset, data, bytes));
    }
    result<void> read(size_t offset, void *data, size_t bytes) const {
        return detail::check(racl_buffer_read(get(), offset, data, bytes));
    }
    template <class T>
    result<void> write(const std::vector<T> &values, size_t offset = 0) const {
        static_assert(std::is_trivially_copyable_v<T>);
        return write(offset, values.data(), values.size() * sizeof(T));
    }
    // So many values; all of the buffer's when `count` is left out, which then holds whole ones from the offset on.
    template <class T>
    result<std::vector<T>> read(size_t count = std::numeric_limits<size_t>::max(), size_t offset = 0) const {
        static_assert(std::is_trivially_copyable_v<T>);
        size_t bytes = 0;
        int32_t status = racl_buffer_size(get(), &bytes);
        if (count == std::numeric_limits<size_t>::max()) {
            count = offset < bytes ? (bytes - offset) / sizeof(T) : 0;
            if (status == RACL_OK && offset < bytes && (bytes - offset) % sizeof(T) != 0)
                status = racl_last_error_set(RACL_INVALID_ARGUMENT, "the buffer holds no whole number of such values");
        }
        std::vector<T> values(status == RACL_OK && count <= bytes / sizeof(T) ? count : 0);
        // What is more than the buffer has is refused there.
        const size_t most = std::numeric_limits<size_t>::max() / sizeof(T);
        if (status == RACL_OK)
            status = racl_buffer_read(get(), offset, values.data(), count <= most ? count * sizeof(T) : most);
        return detail::give(status, std::move(values));
    }
    result<tensor> over(const racl_tensor_layout &layout) const {
        racl_tensor *made = nullptr;
        int32_t status = racl_tensor_new(get(), &layout, &made);
        return detail::give(status, tensor(made));
    }
    // A dense tensor of ND format.
    result<tensor> over(int32_t dtype, const std::vector<size_t> &shape, size_t offset = 0) const {
        racl_tensor_layout layout = {};
        layout.size = sizeof layout;
        layout.dtype = dtype;
        layout.rank = static_cast<uint32_t>(shape.size());
        layout.shape = shape.data();
        layout.offset = offset;
        layout.format = RACL_FORMAT_ND;
        return over(layout);
    }
    template <class T>
    result<tensor> over(const std::vector<size_t> &shape, size_t offset = 0) const {
        return over(detail::data_type<T>(), shape, offset);
    }
    // Waits for work that uses the memory and frees it.
    result<void> close() { return detail::check(give_up(racl_buffer_close)); }
};

inline result<buffer> tensor::memory() const {
    racl_buffer *all = nullptr;
    int32_t status = racl_tensor_buffer(get(), &all);
    return detail::give(status, buffer(all));
}

class host : public detail::owner<detail::host_traits> {
public:
    using owner::owner;
    result<void *> data() const {
        void *data = nullptr;
        int32_t status = racl_host_data(get(), &data);
        return detail::give(status, std::move(data));
    }
    result<size_t> size() const {
        size_t bytes = 0;
        int32_t status = racl_host_size(get(), &bytes);
        return detail::give(status, std::move(bytes));
    }
    result<void> wait() const { return detail::check(racl_host_wait(get())); }
    result<void> close() { return detail::check(give_up(racl_host_close)); }
};

// ---- Arguments of operators ----

namespace detail {
// Whether int64_t does not hold a number, which would be another one there.
template <class T>
constexpr bool is_beyond(T number) noexcept {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(int64_t)) return number > T(-1) / 2;
    else return static_cast<void>(number), false;
}
} // namespace detail

// A scalar that is a float or an int32_t; plain numbers are double or int64_t where the operator takes a scalar.
struct float_scalar { float value; };
struct int32_scalar { int32_t value; };
// An aclDataType.
struct type_number { int32_t number; };
// An argument that is left out.
struct none_type {};
inline constexpr none_type none{};
// A value of a builder of plans, see racl_plan.hpp.
struct value { racl_value number = 0; };
// A dimension there: a size, or what depends on symbols.
struct dim {
    racl_dim number;
    template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
    dim(T size) noexcept : number(detail::is_beyond(size) ? beyond : static_cast<racl_dim>(size)) {}
    // Of no builder, in place of a size that int64_t does not hold.
    static constexpr racl_dim beyond = std::numeric_limits<racl_dim>::min();
};
// A result there, which the operator makes.
struct new_value_type {};
inline constexpr new_value_type new_value{};

// One argument. What it is made of stays the caller's, until the call is done.
class arg {
public:
    arg(none_type) noexcept {}
    arg(const tensor &value) noexcept { object(RACL_ARG_TENSOR, value.get()); }
    arg(float_scalar value) noexcept { real(RACL_ARG_SCALAR_FLOAT, value.value); }
    arg(int32_scalar value) noexcept { integer(RACL_ARG_SCALAR_INT32, value.value); }
    arg(type_number value) noexcept { integer(RACL_ARG_TYPE, value.number); }
    arg(racl::value of) noexcept { integer(RACL_ARG_VALUE, static_cast<int64_t>(of.number)); }
    arg(racl::dim size) noexcept { integer(RACL_ARG_DIM, size.number); }
    arg(new_value_type) noexcept { object(RACL_ARG_RESULT, nullptr); }
    // Of the very type: a pointer becomes no bool, and an enumerator no number.
    template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
    arg(T value) noexcept {
        if (detail::is_beyond(value)) integer(RACL_ARG_DIM, dim::beyond); // to be refused
        else integer(std::is_same_v<T, bool> ? RACL_ARG_BOOL : RACL_ARG_INT, static_cast<int64_t>(value));
    }
    template <class T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
    arg(T value) noexcept { real(RACL_ARG_FLOAT, static_cast<double>(value)); }
    arg(const char *text) noexcept { object(RACL_ARG_TEXT, text); }
    arg(const std::string &text) noexcept { object(RACL_ARG_TEXT, text.c_str()); }
    arg(const std::vector<int64_t> &list) noexcept { object(RACL_ARG_INTS, list.data(), list.size()); }
    arg(const std::vector<float> &list) noexcept { object(RACL_ARG_FLOATS, list.data(), list.size()); }
    arg(const std::vector<racl::value> &list) : values_(list.size()) {
        for (size_t at = 0; at < list.size(); ++at) values_[at] = list[at].number;
        object(RACL_ARG_VALUES, nullptr, list.size());
    }
    arg(const std::vector<racl::dim> &list) : dims_(list.size()) {
        for (size_t at = 0; at < list.size(); ++at) dims_[at] = list[at].number;
        object(RACL_ARG_DIMS, nullptr, list.size());
    }
    arg(const std::vector<const tensor *> &list) : handles_(list.size()) {
        for (size_t at = 0; at < list.size(); ++at) handles_[at] = list[at] ? list[at]->get() : nullptr;
        object(RACL_ARG_TENSORS, nullptr, list.size());
    }
    // Bytes, 0 or 1.
    static arg bools(const std::vector<uint8_t> &list) noexcept {
        arg made(none);
        made.object(RACL_ARG_BOOLS, list.data(), list.size());
        return made;
    }
    racl_arg c() const noexcept {
        racl_arg out = made_;
        if (out.kind == RACL_ARG_TENSORS) out.data = handles_.data();
        if (out.kind == RACL_ARG_VALUES) out.data = values_.data();
        if (out.kind == RACL_ARG_DIMS) out.data = dims_.data();
        return out;
    }

private:
    void object(int32_t kind, const void *data, size_t count = 0) noexcept {
        made_.kind = kind;
        made_.data = data;
        made_.count = count;
    }
    void integer(int32_t kind, int64_t value) noexcept {
        made_.kind = kind;
        made_.integer = value;
    }
    void real(int32_t kind, double value) noexcept {
        made_.kind = kind;
        made_.real = value;
    }

    racl_arg made_ = {};
    std::vector<const racl_tensor *> handles_;
    std::vector<racl_value> values_;
    std::vector<racl_dim> dims_;
};

// ---- Streams and graphs ----

class stream;

// Operators of a graph that can be replaced, see stream::new_task_group() and graph::update().
class task_group : public detail::owner<detail::task_group_traits> {
public:
    using owner::owner;
};

class graph : public detail::owner<detail::graph_traits> {
public:
    using owner::owner;
    inline result<void> launch(const stream &on) const;
    result<void> wait() const { return detail::check(racl_graph_wait(get())); }
    // Replaces the operators of a group by what `work` gives to the stream that it is handed.
    template <class Function>
    result<void> update(const task_group &group, Function &&work) const;
    // Of other code, which built it by hand.
    result<void> abort() const { return detail::check(racl_graph_abort(get())); }
    result<void *> raw() const {
        void *raw = nullptr;
        int32_t status = racl_graph_raw(get(), &raw);
        return detail::give(status, std::move(raw));
    }
    result<void> write_trace(const std::string &path) const {
        return detail::check(racl_graph_write_trace(get(), path.c_str()));
    }
    result<void> close() { return detail::check(give_up(racl_graph_close)); }
};

// A capture gives its graph on the thread that began it, a relaxed one on any: an owner that is destroyed without end()
// gives none.
class capture : public detail::owner<detail::capture_traits> {
public:
    using owner::owner;
    // On another thread than the one that began it the capture stays, unless it is a relaxed one.
    result<graph> end() {
        racl_graph *made = nullptr;
        int32_t status = racl_capture_end(get(), &made);
        if (!detail::stays(status)) release();
        return detail::give(status, graph(made));
    }
};

class stream : public detail::owner<detail::stream_traits> {
public:
    using owner::owner;
    result<void *> raw() const {
        void *raw = nullptr;
        int32_t status = racl_stream_raw(get(), &raw);
        return detail::give(status, std::move(raw));
    }
    result<void> set_name(const char *name) const { return detail::check(racl_stream_set_name(get(), name)); }
    // Drops its work and ends what runs; who waits for that gets RACL_ABORTED.
    result<void> abort() const { return detail::check(racl_stream_abort(get())); }
    result<bool> is_capturing() const {
        int32_t is = 0;
        int32_t status = racl_stream_is_capturing(get(), &is);
        return detail::give(status, is != 0);
    }
    result<void> synchronize() const { return detail::check(racl_stream_synchronize(get(), -1)); }
    // RACL_TIMEOUT where it takes longer; without time, where its work is not done yet.
    template <class Rep, class Period>
    result<void> synchronize(std::chrono::duration<Rep, Period> limit) const {
        return detail::check(detail::wait(get(), limit, racl_stream_synchronize, racl_stream_is_complete));
    }
    result<bool> is_complete() const {
        int32_t is = 0;
        int32_t status = racl_stream_is_complete(get(), &is);
        return detail::give(status, is != 0);
    }
    result<void> record(const event &mark) const { return detail::check(racl_event_record(mark.get(), get())); }
    result<void> wait(const event &mark) const { return detail::check(racl_stream_wait(get(), mark.get())); }
    // Memory for work of this stream.
    result<buffer> alloc(size_t bytes) const {
        racl_buffer *made = nullptr;
        int32_t status = racl_stream_alloc(get(), bytes, &made);
        return detail::give(status, buffer(made));
    }
    result<void> copy(const buffer &to, const buffer &from) const {
        return detail::check(racl_stream_copy(get(), to.get(), from.get()));
    }
    result<void> fill(const buffer &memory, uint8_t byte) const {
        return detail::check(racl_stream_fill(get(), memory.get(), byte));
    }
    result<void> upload(const buffer &to, const host &from) const {
        return detail::check(racl_stream_upload(get(), to.get(), from.get()));
    }
    result<void> download(const host &to, const buffer &from) const {
        return detail::check(racl_stream_download(get(), to.get(), from.get()));
    }
    // Brings bytes of a buffer into the L2 cache; gives how many.
    result<size_t> prefetch(const buffer &memory, size_t offset, size_t bytes) const {
        size_t fetched = 0;
        int32_t status = racl_stream_prefetch(get(), memory.get(), offset, bytes, &fetched);
        return detail::give(status, std::move(fetched));
    }
    // Runs on the host when the stream gets there; one that throws, or gives a failure, fails the work. It must not wait
    // for the device.
    result<void> host_function(detail::host_code function) const {
        auto user = std::make_unique<detail::host_code>(std::move(function));
        racl_host_callback call = *user ? detail::call_user : nullptr;
        int32_t status = racl_stream_host_function(get(), call, user.get(), detail::release_user);
        return detail::check(detail::handed_over(status, user));
    }
    // An operator by its C name, with the arguments of its C function.
    result<void> run(const char *name, std::initializer_list<arg> args) const {
        std::vector<racl_arg> list;
        list.reserve(args.size());
        for (const arg &one : args) list.push_back(one.c());
        return detail::check(racl_operator(get(), name, list.data(), list.size()));
    }
    result<capture> begin_capture(int32_t mode = RACL_CAPTURE_THREAD_LOCAL) const {
        racl_capture *begun = nullptr;
        int32_t status = racl_capture_begin(get(), mode, &begun);
        return detail::give(status, capture(begun));
    }
    // What `work` gives to the stream it is handed, this one, which captures: operators that graph::update() replaces.
    template <class Function>
    result<task_group> new_task_group(Function &&work) const;
    result<void> close() { return detail::check(give_up(racl_stream_close)); }
};

namespace detail {
// Lends a function of the program a stream.
template <class Function>
int32_t give_with(void *user, const racl_stream *lent) {
    stream on(const_cast<racl_stream *>(lent));
    const int32_t status = guarded([&] { return status_of(*static_cast<Function *>(user), std::as_const(on)); });
    on.release();
    return status;
}
} // namespace detail

template <class Function>
result<task_group> stream::new_task_group(Function &&work) const {
    // A plain function has no address as an object.
    auto on_stream = [&work](const stream &on) { return work(on); };
    racl_give_callback give = detail::is_empty(work) ? nullptr : detail::give_with<decltype(on_stream)>;
    racl_task_group *made = nullptr;
    int32_t status = racl_stream_task_group(get(), give, &on_stream, &made);
    return detail::give(status, racl::task_group(made));
}

template <class Function>
result<void> graph::update(const task_group &group, Function &&work) const {
    auto on_stream = [&work](const stream &on) { return work(on); };
    racl_give_callback give = detail::is_empty(work) ? nullptr : detail::give_with<decltype(on_stream)>;
    return detail::check(racl_graph_update(get(), group.get(), give, &on_stream));
}

inline result<void> graph::launch(const stream &on) const {
    return detail::check(racl_graph_launch(get(), on.get()));
}

// ---- Contexts and libraries ----

class context : public detail::owner<detail::context_traits> {
public:
    using owner::owner;
    // A context of its own on the same device.
    result<context> another() const {
        racl_context *made = nullptr;
        int32_t status = racl_context_new(get(), &made);
        return detail::give(status, context(made));
    }
    result<int32_t> device() const {
        int32_t device = 0;
        int32_t status = racl_context_device(get(), &device);
        return detail::give(status, std::move(device));
    }
    result<void *> raw() const {
        void *raw = nullptr;
        int32_t status = racl_context_raw(get(), &raw);
        return detail::give(status, std::move(raw));
    }
    result<void> bind() const { return detail::check(racl_context_bind(get())); }
    // Cores, and the L2 cache.
    result<racl_device_info> device_info() const {
        racl_device_info info = {};
        info.size = sizeof info;
        int32_t status = racl_context_device_info(get(), &info);
        return detail::give(status, std::move(info));
    }
    // The most bytes that it has at a time; 0 for no limit.
    result<void> set_memory_limit(size_t bytes) const {
        return detail::check(racl_context_set_memory_limit(get(), bytes));
    }
    // Whether streams wait by themselves for work of others on the same memory.
    result<void> set_tracking(bool on) const { return detail::check(racl_context_set_tracking(get(), on)); }
    result<void> set_index_checks(bool on) const { return detail::check(racl_context_set_index_checks(get(), on)); }
    // Drops the work of all streams of the device.
    template <class Rep, class Period>
    result<void> abort_device(std::chrono::duration<Rep, Period> limit) const {
        return detail::check(racl_context_abort_device(get(), static_cast<uint64_t>(detail::nanoseconds(limit))));
    }
    result<void> synchronize() const { return detail::check(racl_context_synchronize(get())); }
    struct memory { size_t free, total; };
    result<memory> memory_info() const {
        memory found = {};
        int32_t status = racl_context_memory_info(get(), &found.free, &found.total);
        return detail::give(status, std::move(found));
    }
    result<racl_memory_stats> memory_stats() const {
        racl_memory_stats stats = {};
        stats.size = sizeof stats;
        int32_t status = racl_context_memory_stats(get(), &stats);
        return detail::give(status, std::move(stats));
    }
    // Errors that destructors met, which nobody was told.
    result<std::vector<failure>> take_errors() const {
        racl_errors *list = nullptr;
        int32_t status = racl_context_take_errors(get(), &list);
        return detail::give(status, status == RACL_OK ? detail::failures(list) : std::vector<failure>());
    }
    result<void> reset_peaks() const { return detail::check(racl_context_reset_peaks(get())); }
    result<size_t> trim(size_t keep = 0) const {
        size_t freed = 0;
        int32_t status = racl_context_trim(get(), keep, &freed);
        return detail::give(status, std::move(freed));
    }
    result<stream> new_stream(uint32_t priority = 0, uint32_t flags = 0) const {
        racl_stream_options options = {};
        options.size = sizeof options;
        options.priority = priority;
        options.flags = flags;
        racl_stream *made = nullptr;
        int32_t status = racl_stream_new(get(), &options, &made);
        return detail::give(status, stream(made));
    }
    result<stream> default_stream() const {
        racl_stream *made = nullptr;
        int32_t status = racl_stream_default(get(), &made);
        return detail::give(status, stream(made));
    }
    // An aclrtStream of other code.
    result<stream> stream_of(void *raw) const {
        racl_stream *made = nullptr;
        int32_t status = racl_stream_ref(get(), raw, &made);
        return detail::give(status, stream(made));
    }
    // An aclrtEvent of other code, which records it and waits for it too.
    result<event> event_of(void *raw) const {
        racl_event *made = nullptr;
        int32_t status = racl_event_ref(get(), raw, &made);
        return detail::give(status, event(made));
    }
    // An aclmdlRI of other code, which nobody else launches meanwhile.
    result<graph> graph_of(void *raw) const {
        racl_graph *made = nullptr;
        int32_t status = racl_graph_ref(get(), raw, &made);
        return detail::give(status, graph(made));
    }
    // With `timing` it takes the time, and captures do not take it.
    result<event> new_event(bool timing = false) const {
        racl_event *made = nullptr;
        int32_t status = racl_event_new(get(), timing, &made);
        return detail::give(status, event(made));
    }
    result<buffer> alloc(size_t bytes) const {
        racl_buffer *made = nullptr;
        int32_t status = racl_buffer_new(get(), bytes, &made);
        return detail::give(status, buffer(made));
    }
    // Device memory of other code.
    result<buffer> buffer_of(void *address, size_t bytes) const {
        racl_buffer *made = nullptr;
        int32_t status = racl_buffer_ref(get(), address, bytes, &made);
        return detail::give(status, buffer(made));
    }
    // The same; `released` is called once, on any thread, when neither racl nor the device uses the memory any more.
    result<buffer> buffer_of(void *address, size_t bytes, std::function<void()> released) const {
        auto user = std::make_unique<std::function<void()>>(std::move(released));
        racl_buffer *made = nullptr;
        int32_t status = racl_buffer_ref_with(get(), address, bytes, detail::call_and_release, user.get(), &made);
        return detail::give(detail::handed_over(status, user), buffer(made));
    }
    // A tensor of another framework, which is taken over.
    result<tensor> from_dlpack(void *managed, bool versioned = true) const {
        racl_tensor *made = nullptr;
        int32_t status = racl_tensor_from_dlpack(get(), managed, versioned, &made);
        return detail::give(status, tensor(made));
    }
    // A buffer with these values.
    template <class T>
    result<buffer> upload(const std::vector<T> &values) const {
        static_assert(std::is_trivially_copyable_v<T>);
        racl_buffer *made = nullptr;
        int32_t status = racl_buffer_new(get(), values.size() * sizeof(T), &made);
        if (status == RACL_OK) status = racl_buffer_write(made, 0, values.data(), values.size() * sizeof(T));
        return detail::give(status, buffer(made));
    }
    result<host> alloc_host(size_t bytes) const {
        racl_host *made = nullptr;
        int32_t status = racl_host_new(get(), bytes, &made);
        return detail::give(status, host(made));
    }
    result<void> close() { return detail::check(give_up(racl_context_close)); }
};

class library : public detail::owner<detail::library_traits> {
public:
    using owner::owner;
    // nullptr: as RACL_LIBRARY says, else the library of the machine.
    static result<library> open(const char *path = nullptr) {
        racl_library *made = nullptr;
        int32_t status = racl_library_open(path, &made);
        return detail::give(status, library(made));
    }
    // With RACL_LIBRARY_... put together.
    static result<library> open_with(const char *path, uint32_t flags) {
        racl_library_options options = {};
        options.size = sizeof options;
        options.flags = flags;
        racl_library *made = nullptr;
        int32_t status = racl_library_open_with(path, &options, &made);
        return detail::give(status, library(made));
    }
    result<std::string> name() const {
        size_t needed = 0;
        int32_t status = racl_library_name(get(), nullptr, 0, &needed);
        std::string text(needed, '\0');
        if (status == RACL_OK) status = racl_library_name(get(), text.data(), text.size(), &needed);
        if (!text.empty()) text.pop_back(); // the zero
        return detail::give(status, std::move(text));
    }
    // The name of the chip.
    result<std::string> soc_name() const {
        return detail::text(
            [&](char *text, size_t size, size_t *needed) { return racl_library_soc_name(get(), text, size, needed); });
    }
    result<bool> is_mock() const {
        int32_t is = 0;
        int32_t status = racl_library_is_mock(get(), &is);
        return detail::give(status, is != 0);
    }
    result<uint32_t> device_count() const {
        uint32_t count = 0;
        int32_t status = racl_library_device_count(get(), &count);
        return detail::give(status, std::move(count));
    }
    // An aclrtContext of other code.
    result<context> context_of(void *raw) const {
        racl_context *made = nullptr;
        int32_t status = racl_context_ref(get(), raw, &made);
        return detail::give(status, context(made));
    }
    result<context> primary(int32_t device) const {
        racl_context *made = nullptr;
        int32_t status = racl_context_primary(get(), device, &made);
        return detail::give(status, context(made));
    }
    result<void> close() { return detail::check(give_up(racl_library_close)); }
};

// Gives what racl logs, up to that RACL_LOG_... level, to a function; NULL for none.
inline result<void> set_log(int32_t level, racl_log_callback function, void *user = nullptr) {
    return detail::check(racl_log_set(level, function, user));
}

using log_function = std::function<void(int32_t level, const char *target, const char *message)>;
namespace detail {
inline void log_with(void *user, int32_t level, const char *target, const char *message) {
    untold([&] { (*static_cast<log_function *>(user))(level, target, message); });
}
inline void release_log(void *user) { delete static_cast<log_function *>(user); }
} // namespace detail
// The same; what the function throws is lost.
inline result<void> set_log(int32_t level, log_function function) {
    if (!function) return detail::check(racl_log_set(level, nullptr, nullptr));
    auto user = std::make_unique<log_function>(std::move(function));
    int32_t status = racl_log_set_with(level, detail::log_with, user.get(), detail::release_log);
    return detail::check(detail::handed_over(status, user));
}

// The version of the library that the program runs with, to compare with RACL_VERSION.
inline uint32_t version() noexcept { return racl_version(); }
// Whether "cache", "dlopen", "dlpack", "link" or "mock" was compiled into libracl.
inline result<bool> has(const char *feature) {
    int32_t has = 0;
    int32_t status = racl_has(feature, &has);
    return detail::give(status, has != 0);
}
// How long destructors wait for work, for the whole process.
template <class Rep, class Period>
result<void> set_free_limit(std::chrono::duration<Rep, Period> limit) {
    return detail::check(racl_free_limit_set(static_cast<uint64_t>(detail::nanoseconds(limit))));
}

} // namespace RACL_DETAIL_FORM
} // namespace racl

#endif
