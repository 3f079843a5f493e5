// racl: plans, the compile cache and the control of the mock for C++17. MIT OR Apache-2.0.
//
// The rules are those of racl.hpp and racl.h.
#ifndef RACL_PLAN_HPP
#define RACL_PLAN_HPP

#include <utility>

#include "racl.hpp"

namespace racl {
inline namespace RACL_DETAIL_FORM {

namespace detail {
RACL_DETAIL_OWNED(bindings);
RACL_DETAIL_OWNED(builder);
RACL_DETAIL_OWNED(cache);
RACL_DETAIL_OWNED(executable);
RACL_DETAIL_OWNED(foreign);
RACL_DETAIL_OWNED(host_function);
RACL_DETAIL_OWNED(host_outputs);
RACL_DETAIL_OWNED(plan);
RACL_DETAIL_OWNED(pool);
RACL_DETAIL_OWNED(registry);
RACL_DETAIL_OWNED(simulation);

inline std::vector<racl_dim> numbers(const std::vector<dim> &shape) {
    std::vector<racl_dim> all;
    all.reserve(shape.size());
    for (const dim &size : shape) all.push_back(size.number);
    return all;
}

inline std::vector<racl_value> numbers(const std::vector<value> &values) {
    std::vector<racl_value> all;
    all.reserve(values.size());
    for (const value &one : values) all.push_back(one.number);
    return all;
}

inline std::vector<value> values(const std::vector<racl_value> &numbers) {
    std::vector<value> all(numbers.size());
    for (size_t at = 0; at < numbers.size(); ++at) all[at].number = numbers[at];
    return all;
}
} // namespace detail

// ---- Functions of the program in plans ----

class host_function : public detail::owner<detail::host_function_traits> {
public:
    using owner::owner;
    static result<host_function> make(const racl_host_function_info &info) {
        racl_host_function *made = nullptr;
        int32_t status = racl_host_function_new(&info, &made);
        return detail::give(status, host_function(made));
    }
    // One that throws, or gives a failure, fails the work. It must not wait for the device. Two executables of one plan
    // may call it at the same time, on two threads: it locks what it shares. No lock is held here, with which the one
    // would wait for the other.
    static result<host_function> make(const char *name, uint32_t version, detail::host_code function) {
        auto user = std::make_unique<detail::host_code>(std::move(function));
        racl_host_function_info info = {};
        info.size = sizeof info;
        info.name = name;
        info.version = version;
        info.run = *user ? detail::call_user : nullptr;
        info.user = user.get();
        info.release = detail::release_user;
        racl_host_function *made = nullptr;
        int32_t status = racl_host_function_new(&info, &made);
        return detail::give(detail::handed_over(status, user), host_function(made));
    }
};

// What a foreign operator does, made of functions of these parameters: a status other than RACL_OK fails it, as what is
// thrown does, with its text. The launch may give the code of a call of AscendCL that failed.
using launch_function = detail::code<const racl_launch &>;
using simulate_function = detail::code<const std::vector<racl_bytes> & /* reads */, const std::vector<racl_bytes> &>;

// One of the values of a launch, those that are read in front. Values of a later libracl may be larger than those of the
// header here.
inline const racl_launch_value &value_of(const racl_launch &launch, size_t number) noexcept {
    const auto *first = reinterpret_cast<const unsigned char *>(launch.values);
    return *reinterpret_cast<const racl_launch_value *>(first + number * launch.value_size);
}

namespace detail {
struct foreign_functions {
    launch_function launch = nullptr;
    simulate_function simulate = nullptr;
};
inline int32_t launch_with(void *user, const racl_launch *launch) {
    return guarded([&] { return static_cast<foreign_functions *>(user)->launch(*launch); });
}
inline int32_t simulate_with(void *user, const racl_bytes *reads, size_t read_count, const racl_bytes *writes,
                             size_t write_count) {
    return guarded([&] {
        const std::vector<racl_bytes> from(reads, reads + read_count), to(writes, writes + write_count);
        return static_cast<foreign_functions *>(user)->simulate(from, to);
    });
}
inline void release_foreign(void *user) { delete static_cast<foreign_functions *>(user); }
} // namespace detail

class foreign : public detail::owner<detail::foreign_traits> {
public:
    using owner::owner;
    // Without a simulation plans with it cannot be simulated.
    static result<foreign> make(const char *name, uint32_t version, launch_function launch,
                                simulate_function simulate = nullptr) {
        racl_foreign_info info = {};
        info.name = name;
        info.version = version;
        return make_with(info, std::move(launch), std::move(simulate));
    }
    // The same with cores and attributes; the size is set here.
    static result<foreign> make_with(racl_foreign_info info, launch_function launch,
                                     simulate_function simulate = nullptr) {
        auto user = std::make_unique<detail::foreign_functions>();
        user->launch = std::move(launch);
        user->simulate = std::move(simulate);
        info.size = sizeof info;
        info.launch = user->launch ? detail::launch_with : nullptr;
        info.simulate = user->simulate ? detail::simulate_with : nullptr;
        info.user = user.get();
        info.release = detail::release_foreign;
        racl_foreign *made = nullptr;
        int32_t status = racl_foreign_new(&info, &made);
        return detail::give(detail::handed_over(status, user), foreign(made));
    }
    static result<foreign> make(const racl_foreign_info &info) {
        racl_foreign *made = nullptr;
        int32_t status = racl_foreign_new(&info, &made);
        return detail::give(status, foreign(made));
    }
};

class registry : public detail::owner<detail::registry_traits> {
public:
    using owner::owner;
    static result<registry> make() {
        racl_registry *made = nullptr;
        int32_t status = racl_registry_new(&made);
        return detail::give(status, registry(made));
    }
    result<void> add(const host_function &one) const {
        return detail::check(racl_registry_add_host_function(get(), one.get()));
    }
    result<void> add(const foreign &one) const { return detail::check(racl_registry_add_foreign(get(), one.get())); }
};

// ---- Plans ----

class plan : public detail::owner<detail::plan_traits> {
public:
    using owner::owner;
    static result<plan> load(const std::vector<uint8_t> &stored, const registry *known = nullptr) {
        racl_plan *made = nullptr;
        // For C, NULL is no registry.
        int32_t status = known && !*known ? racl_last_error_set(RACL_NULL_POINTER, "an empty registry") : RACL_OK;
        if (status == RACL_OK)
            status = racl_plan_load(stored.data(), stored.size(), known ? known->get() : nullptr, &made);
        return detail::give(status, plan(made));
    }
    result<racl_plan_info> describe() const {
        racl_plan_info info = {};
        info.size = sizeof info;
        int32_t status = racl_plan_describe(get(), &info);
        return detail::give(status, std::move(info));
    }
    result<std::vector<failure>> lints() const {
        racl_errors *list = nullptr;
        int32_t status = racl_plan_lints(get(), &list);
        return detail::give(status, status == RACL_OK ? detail::failures(list) : std::vector<failure>());
    }
    // A plan that computes the same with less work.
    result<plan> optimise(int32_t all = RACL_PASS_ON, const std::vector<racl_pass> &others = {}) const {
        racl_passes passes = {};
        passes.all = all;
        passes.passes = others.data();
        passes.pass_count = others.size();
        return optimise_with(passes);
    }
    // The same with all that can be said, such as where it will run; the size is set here.
    result<plan> optimise_with(racl_passes passes) const {
        passes.size = sizeof passes;
        racl_plan *made = nullptr;
        int32_t status = racl_plan_optimise(get(), &passes, &made);
        return detail::give(status, plan(made));
    }
    // What passes changed.
    result<std::vector<failure>> changes() const {
        racl_errors *list = nullptr;
        int32_t status = racl_plan_changes(get(), &list);
        return detail::give(status, status == RACL_OK ? detail::failures(list) : std::vector<failure>());
    }
    result<std::string> dump(int32_t format = RACL_DUMP_TEXT, const std::vector<size_t> &symbols = {}) const {
        return detail::text([&](char *text, size_t size, size_t *needed) {
            return racl_plan_dump(get(), format, symbols.data(), symbols.size(), text, size, needed);
        });
    }
    result<std::vector<uint8_t>> store() const {
        size_t needed = 0;
        int32_t status = racl_plan_store(get(), nullptr, 0, &needed);
        std::vector<uint8_t> stored(needed);
        if (status == RACL_OK) status = racl_plan_store(get(), stored.data(), stored.size(), &needed);
        return detail::give(status, std::move(stored));
    }
};

class builder : public detail::owner<detail::builder_traits> {
public:
    using owner::owner;
    static result<builder> make(const racl_plan_options *options = nullptr) {
        racl_builder *made = nullptr;
        int32_t status = racl_builder_new(options, &made);
        return detail::give(status, builder(made));
    }
    // The place in the program that errors of what follows name.
    result<void> at(const char *file, uint32_t line) const { return detail::check(racl_builder_at(get(), file, line)); }
    result<uint32_t> operators() const {
        uint32_t count = 0;
        int32_t status = racl_builder_operators(get(), &count);
        return detail::give(status, std::move(count));
    }

    // Sizes.
    result<dim> symbol(const char *name, size_t least, size_t most) const {
        dim made(0);
        int32_t status = racl_builder_symbol(get(), name, least, most, &made.number);
        return detail::give(status, std::move(made));
    }
    result<dim> number(const char *name, size_t least, size_t most) const {
        dim made(0);
        int32_t status = racl_builder_number(get(), name, least, most, &made.number);
        return detail::give(status, std::move(made));
    }
    result<dim> plus(dim a, dim b) const {
        dim made(0);
        int32_t status = racl_builder_dim_plus(get(), a.number, b.number, &made.number);
        return detail::give(status, std::move(made));
    }
    result<dim> times(dim a, dim b) const {
        dim made(0);
        int32_t status = racl_builder_dim_times(get(), a.number, b.number, &made.number);
        return detail::give(status, std::move(made));
    }

    // Values.
    result<value> input(const char *name, int32_t dtype, const std::vector<dim> &shape, int32_t input_class) const {
        const auto sizes = detail::numbers(shape);
        value made;
        int32_t status =
            racl_builder_input(get(), name, dtype, sizes.data(), sizes.size(), input_class, &made.number);
        return detail::give(status, std::move(made));
    }
    template <class T>
    result<value> input(const char *name, const std::vector<dim> &shape, int32_t input_class) const {
        return input(name, detail::data_type<T>(), shape, input_class);
    }
    template <class T>
    result<value> constant(const std::vector<dim> &shape, const std::vector<T> &data) const {
        const auto sizes = detail::numbers(shape);
        value made;
        int32_t status = racl_builder_constant(get(), detail::data_type<T>(), sizes.data(), sizes.size(), data.data(),
                                               data.size() * sizeof(T), &made.number);
        return detail::give(status, std::move(made));
    }
    result<value> empty(int32_t dtype, const std::vector<dim> &shape) const {
        const auto sizes = detail::numbers(shape);
        value made;
        int32_t status = racl_builder_empty(get(), dtype, sizes.data(), sizes.size(), &made.number);
        return detail::give(status, std::move(made));
    }
    template <class T>
    result<value> empty(const std::vector<dim> &shape) const { return empty(detail::data_type<T>(), shape); }
    result<value> reshape(value of, const std::vector<dim> &shape) const {
        const auto sizes = detail::numbers(shape);
        value made;
        int32_t status = racl_builder_reshape(get(), of.number, sizes.data(), sizes.size(), &made.number);
        return detail::give(status, std::move(made));
    }
    result<value> transpose(value of, size_t a, size_t b) const {
        value made;
        int32_t status = racl_builder_transpose(get(), of.number, a, b, &made.number);
        return detail::give(status, std::move(made));
    }
    result<value> narrow(value of, size_t dimension, dim start, dim stop) const {
        value made;
        int32_t status = racl_builder_narrow(get(), of.number, dimension, start.number, stop.number, &made.number);
        return detail::give(status, std::move(made));
    }
    result<value> bytes(value of, size_t start, size_t stop) const {
        value made;
        int32_t status = racl_builder_bytes(get(), of.number, start, stop, &made.number);
        return detail::give(status, std::move(made));
    }
    result<std::vector<dim>> shape(value of) const {
        size_t rank = 0;
        int32_t status = racl_builder_value_shape(get(), of.number, nullptr, 0, &rank);
        std::vector<racl_dim> sizes(rank);
        if (status == RACL_OK && rank > 0)
            status = racl_builder_value_shape(get(), of.number, sizes.data(), sizes.size(), &rank);
        return detail::give(status, std::vector<dim>(sizes.begin(), sizes.end()));
    }
    result<int32_t> dtype(value of) const {
        int32_t dtype = 0;
        int32_t status = racl_builder_value_dtype(get(), of.number, &dtype);
        return detail::give(status, std::move(dtype));
    }
    result<void> output(const char *name, value of) const {
        return detail::check(racl_builder_output(get(), name, of.number));
    }
    result<void> output_to_host(const char *name, value of) const {
        return detail::check(racl_builder_output_to_host(get(), name, of.number));
    }

    // Work. What is `racl::new_value` among the arguments is a new value; op() gives the first, ops() all of them.
    result<std::vector<value>> ops(const char *name, std::initializer_list<arg> args) const {
        std::vector<racl_arg> list;
        std::vector<value> made(args.size());
        size_t count = 0;
        list.reserve(args.size());
        for (const arg &one : args) {
            list.push_back(one.c());
            if (list.back().kind == RACL_ARG_RESULT) list.back().data = &made[count++].number;
        }
        int32_t status = racl_builder_operator(get(), name, list.data(), list.size());
        made.resize(count);
        return detail::give(status, std::move(made));
    }
    result<value> op(const char *name, std::initializer_list<arg> args) const {
        auto all = ops(name, args);
#ifdef RACL_ERROR_CODES
        value first = all && !(*all).empty() ? (*all)[0] : value();
        return result<value>(all.error().value(), std::move(first));
#else
        return all.empty() ? value() : all[0];
#endif
    }
    result<void> copy(value to, value from) const {
        return detail::check(racl_builder_copy(get(), to.number, from.number));
    }
    result<void> fill(value of, uint8_t byte) const { return detail::check(racl_builder_fill(get(), of.number, byte)); }
    result<void> run(const host_function &function) const {
        return detail::check(racl_builder_host_function(get(), function.get()));
    }
    result<void> run(const foreign &function, const std::vector<value> &reads, const std::vector<value> &writes) const {
        const auto read = detail::numbers(reads), written = detail::numbers(writes);
        return detail::check(racl_builder_foreign(get(), function.get(), read.data(), read.size(), written.data(),
                                                  written.size()));
    }

    // Other plans, on values that are their inputs; each gives as many results as it is told that there are.
    result<std::vector<value>> call(const plan &body, const std::vector<value> &operands, size_t results = 1,
                                    const std::vector<racl_told> &told = {}) const {
        const auto given = detail::numbers(operands);
        std::vector<racl_value> made(results);
        int32_t status = racl_builder_call(get(), body.get(), given.data(), given.size(), told.data(), told.size(),
                                           made.data(), made.size());
        return detail::give(status, detail::values(made));
    }
    // What is carried from one step to the next.
    result<std::vector<value>> call_times(size_t steps, const plan &body, const std::vector<value> &carried,
                                          const std::vector<value> &others = {}) const {
        const auto first = detail::numbers(carried), rest = detail::numbers(others);
        std::vector<racl_value> made(carried.size());
        int32_t status = racl_builder_call_times(get(), body.get(), steps, first.data(), first.size(), rest.data(),
                                                 rest.size(), made.data());
        return detail::give(status, detail::values(made));
    }
    result<std::vector<value>> if_else(value condition, const plan &then, const plan &otherwise,
                                       const std::vector<value> &operands, size_t results = 1) const {
        // For C, NULL is no other branch.
        if (!otherwise) {
            const int32_t status = racl_last_error_set(RACL_NULL_POINTER, "no plan for `otherwise`");
            return detail::give(status, std::vector<value>());
        }
        return choose(condition, then, otherwise.get(), operands, results);
    }
    result<std::vector<value>> if_then(value condition, const plan &then, const std::vector<value> &operands,
                                       size_t results = 1) const {
        return choose(condition, then, nullptr, operands, results);
    }
    result<std::vector<value>> switch_to(value number, const std::vector<const plan *> &cases, const plan &otherwise,
                                         const std::vector<value> &operands, size_t results = 1) const {
        std::vector<const racl_plan *> plans;
        for (const plan *one : cases) plans.push_back(one ? one->get() : nullptr);
        const auto given = detail::numbers(operands);
        std::vector<racl_value> made(results);
        int32_t status = racl_builder_switch(get(), number.number, plans.data(), plans.size(), otherwise.get(),
                                             given.data(), given.size(), made.data(), made.size());
        return detail::give(status, detail::values(made));
    }
    // At most so many rounds; 0 for no limit. `more` gets the condition behind the last one.
    result<std::vector<value>> repeat(value condition, const plan &body, const std::vector<value> &carried,
                                      const std::vector<value> &others = {}, uint32_t rounds = 0,
                                      value *more = nullptr) const {
        const auto first = detail::numbers(carried), rest = detail::numbers(others);
        std::vector<racl_value> made(carried.size());
        int32_t status =
            racl_builder_repeat(get(), rounds, condition.number, body.get(), first.data(), first.size(), rest.data(),
                                rest.size(), made.data(), more ? &more->number : nullptr);
        return detail::give(status, detail::values(made));
    }

    // Results of which the device finds how much there is.
    result<racl_found> nonzero(value of) const {
        racl_found found = {};
        int32_t status = racl_builder_nonzero(get(), of.number, &found);
        return detail::give(status, std::move(found));
    }
    result<racl_found> masked_select(value of, value mask) const {
        racl_found found = {};
        int32_t status = racl_builder_masked_select(get(), of.number, mask.number, &found);
        return detail::give(status, std::move(found));
    }
    // What there is once, the place of each there, and how many there are of each.
    struct unique_results {
        racl_found found;
        value places;
        racl_found counts;
    };
    result<unique_results> unique(value of, int32_t how = RACL_UNIQUE_ELEMENTS, int64_t dimension = 0) const {
        unique_results made = {};
        int32_t status = racl_builder_unique(get(), of.number, how, dimension, &made.found, &made.places.number,
                                             &made.counts);
        return detail::give(status, std::move(made));
    }
    result<value> found_mask(const racl_found &found) const {
        value made;
        int32_t status = racl_builder_found_mask(get(), &found, &made.number);
        return detail::give(status, std::move(made));
    }
    result<void> output_found(const char *name, const racl_found &found) const {
        return detail::check(racl_builder_output_found(get(), name, &found));
    }

    // Streams and events.
    result<void> begin_scope(const char *tag, const racl_scope_options *options = nullptr) const {
        return detail::check(racl_builder_scope_begin(get(), tag, options));
    }
    result<void> end_scope() const { return detail::check(racl_builder_scope_end(get())); }
    result<void> join(const char *tag) const { return detail::check(racl_builder_join(get(), tag)); }
    result<void> event(const char *tag) const { return detail::check(racl_builder_event(get(), tag)); }
    result<void> record(const char *tag) const { return detail::check(racl_builder_record(get(), tag)); }
    result<void> rerecord(const char *tag) const { return detail::check(racl_builder_rerecord(get(), tag)); }
    result<void> wait(const char *tag) const { return detail::check(racl_builder_wait(get(), tag)); }
    result<void> end_event(const char *tag) const { return detail::check(racl_builder_event_end(get(), tag)); }
    result<void> record_stream(value of, const char *tag) const {
        return detail::check(racl_builder_record_stream(get(), of.number, tag));
    }
    result<value> wait_value(value of, value dependency) const {
        value made;
        int32_t status = racl_builder_wait_value(get(), of.number, dependency.number, &made.number);
        return detail::give(status, std::move(made));
    }
    result<void> wait_all(const std::vector<value> &values) const {
        const auto list = detail::numbers(values);
        return detail::check(racl_builder_wait_all(get(), list.data(), list.size()));
    }
    result<size_t> prefetch(value of, const racl_prefetch_options *options = nullptr) const {
        size_t fetched = 0;
        int32_t status = racl_builder_prefetch(get(), of.number, options, &fetched);
        return detail::give(status, std::move(fetched));
    }
    result<void> gate(const char *name) const { return detail::check(racl_builder_gate(get(), name)); }
    result<void> wait_gate(const char *name) const { return detail::check(racl_builder_gate_wait(get(), name)); }
    result<void> record_gate(const char *name) const { return detail::check(racl_builder_gate_record(get(), name)); }

    // The plan; the builder is gone then, also when the plan is refused: last_failures() has all that is wrong.
    result<plan> build() {
        racl_plan *made = nullptr;
        int32_t status = racl_builder_build(get(), &made);
        if (!detail::stays(status)) release();
        return detail::give(status, plan(made));
    }

private:
    result<std::vector<value>> choose(value condition, const plan &then, const racl_plan *otherwise,
                                      const std::vector<value> &operands, size_t results) const {
        const auto given = detail::numbers(operands);
        std::vector<racl_value> made(results);
        int32_t status = racl_builder_if(get(), condition.number, then.get(), otherwise, given.data(), given.size(),
                                         made.data(), made.size());
        return detail::give(status, detail::values(made));
    }
};

// ---- Runs ----

// Memory for the temporaries of executables that do not run at the same time: the `pool` of racl_run_options.
class pool : public detail::owner<detail::pool_traits> {
public:
    using owner::owner;
    static result<pool> make(const context &on) {
        racl_pool *made = nullptr;
        int32_t status = racl_pool_new(on.get(), &made);
        return detail::give(status, pool(made));
    }
    result<size_t> size() const {
        size_t bytes = 0;
        int32_t status = racl_pool_size(get(), &bytes);
        return detail::give(status, std::move(bytes));
    }
};

namespace detail {
// An output of a type that is checked, by a function that tells its shape and one that copies it.
template <class T, class Shape, class Read>
result<std::vector<T>> elements(Shape &&shape, Read &&read) {
    size_t rank = 0;
    int32_t dtype = 0, status = shape(nullptr, size_t(0), &rank, &dtype);
    if (status == RACL_OK) status = check_type<T>(dtype);
    std::vector<size_t> sizes(rank);
    if (status == RACL_OK && rank > 0) status = shape(sizes.data(), sizes.size(), &rank, nullptr);
    size_t count = status == RACL_OK ? 1 : 0;
    for (size_t size : sizes) count *= size;
    std::vector<T> values(count);
    if (status == RACL_OK) status = read(values.data(), values.size() * sizeof(T));
    return give(status, std::move(values));
}
} // namespace detail

// What one run brought to the host.
class host_outputs : public detail::owner<detail::host_outputs_traits> {
public:
    using owner::owner;
    // Whether reading would not wait.
    result<bool> is_ready() const {
        int32_t is = 0;
        int32_t status = racl_host_outputs_is_ready(get(), &is);
        return detail::give(status, is != 0);
    }
    result<std::vector<size_t>> shape(uint32_t output) const {
        size_t rank = 0;
        int32_t status = racl_host_outputs_shape(get(), output, nullptr, 0, &rank, nullptr);
        std::vector<size_t> sizes(rank);
        if (status == RACL_OK && rank > 0)
            status = racl_host_outputs_shape(get(), output, sizes.data(), sizes.size(), &rank, nullptr);
        return detail::give(status, std::move(sizes));
    }
    // Waits for that run.
    template <class T>
    result<std::vector<T>> read(uint32_t output) const {
        return detail::elements<T>(
            [&](size_t *sizes, size_t room, size_t *rank, int32_t *dtype) {
                return racl_host_outputs_shape(get(), output, sizes, room, rank, dtype);
            },
            [&](void *data, size_t size) { return racl_host_outputs_read(get(), output, data, size); });
    }
};

class bindings : public detail::owner<detail::bindings_traits> {
public:
    using owner::owner;
    result<void> set(uint32_t input, const tensor &memory) const {
        return detail::check(racl_bindings_tensor(get(), input, memory.get()));
    }
    // Elements of the host, which are copied.
    template <class T>
    result<void> set_host(uint32_t input, const std::vector<size_t> &shape, const std::vector<T> &data) const {
        return detail::check(racl_bindings_host(get(), input, detail::data_type<T>(), shape.data(), shape.size(),
                                                data.data(), data.size() * sizeof(T)));
    }
    result<void> set_symbol(const char *name, size_t value) const {
        return detail::check(racl_bindings_symbol(get(), name, value));
    }
    result<void> set_key(uint64_t key) const { return detail::check(racl_bindings_key(get(), key)); }
};

class executable : public detail::owner<detail::executable_traits> {
public:
    using owner::owner;
    // Frozen inputs by name.
    static result<executable> make(const plan &of, const context &on,
                                   const std::vector<std::pair<const char *, const tensor *>> &frozen = {},
                                   const racl_run_options *options = nullptr) {
        std::vector<racl_frozen> list;
        for (const auto &[name, memory] : frozen) list.push_back({name, memory ? memory->get() : nullptr});
        racl_executable *made = nullptr;
        int32_t status = racl_executable_new(of.get(), on.get(), options, list.data(), list.size(), &made);
        return detail::give(status, executable(made));
    }
    result<uint32_t> input(const char *name) const {
        uint32_t number = 0;
        int32_t status = racl_executable_input(get(), name, &number);
        return detail::give(status, std::move(number));
    }
    result<uint32_t> output(const char *name) const {
        uint32_t number = 0;
        int32_t status = racl_executable_output(get(), name, &number);
        return detail::give(status, std::move(number));
    }
    // The names of inputs and of outputs, by their numbers.
    result<std::vector<std::string>> inputs() const {
        return names(racl_executable_input_count, racl_executable_input_name);
    }
    result<std::vector<std::string>> outputs() const {
        return names(racl_executable_output_count, racl_executable_output_name);
    }
    result<bindings> new_bindings() const {
        racl_bindings *made = nullptr;
        int32_t status = racl_bindings_new(get(), &made);
        return detail::give(status, bindings(made));
    }
    result<void> run(const stream &on, const bindings &bound) const {
        return detail::check(racl_executable_run(get(), on.get(), bound.get()));
    }
    // The host outputs of the latest run, to be read while later ones are under way.
    result<host_outputs> take_host_outputs() const {
        racl_host_outputs *made = nullptr;
        int32_t status = racl_executable_take_host_outputs(get(), &made);
        return detail::give(status, host_outputs(made));
    }
    // Captures the graph that a run would need, ahead of it.
    result<void> capture(const bindings &bound) const {
        return detail::check(racl_executable_capture(get(), bound.get()));
    }
    // How many more graphs can be captured.
    result<size_t> graph_room() const {
        size_t graphs = 0;
        int32_t status = racl_executable_graph_room(get(), &graphs);
        return detail::give(status, std::move(graphs));
    }
    // Ends runs that wait at gates for signals that will not come, and gives the gates that were opened.
    result<std::vector<std::string>> release_gates() const {
        racl_errors *list = nullptr;
        int32_t status = racl_executable_release_gates(get(), &list);
        return detail::give(status, status == RACL_OK ? detail::messages(list) : std::vector<std::string>());
    }
    result<tensor> static_input(uint32_t input) const {
        racl_tensor *made = nullptr;
        int32_t status = racl_executable_static_input(get(), input, &made);
        return detail::give(status, tensor(made));
    }
    result<tensor> copied_input(uint32_t input) const {
        racl_tensor *made = nullptr;
        int32_t status = racl_executable_copied_input(get(), input, &made);
        return detail::give(status, tensor(made));
    }
    result<std::vector<size_t>> output_shape(uint32_t output) const {
        size_t rank = 0;
        int32_t status = racl_executable_output_shape(get(), output, nullptr, 0, &rank, nullptr);
        std::vector<size_t> sizes(rank);
        if (status == RACL_OK && rank > 0)
            status = racl_executable_output_shape(get(), output, sizes.data(), sizes.size(), &rank, nullptr);
        return detail::give(status, std::move(sizes));
    }
    // Waits for the latest run.
    template <class T>
    result<std::vector<T>> read(uint32_t output) const { return elements<T>(output, racl_executable_read); }
    template <class T>
    result<std::vector<T>> read_host(uint32_t output) const { return elements<T>(output, racl_executable_read_host); }
    // How many rows of an output came, and these.
    result<size_t> found_count(uint32_t output) const {
        size_t rows = 0;
        int32_t status = racl_executable_found_count(get(), output, &rows);
        return detail::give(status, std::move(rows));
    }
    template <class T>
    result<std::vector<T>> read_found(uint32_t output) const {
        size_t needed = 0, rank = 0;
        int32_t dtype = 0, status = racl_executable_output_shape(get(), output, nullptr, 0, &rank, &dtype);
        if (status == RACL_OK) status = detail::check_type<T>(dtype);
        if (status == RACL_OK) status = racl_executable_read_found(get(), output, nullptr, 0, &needed);
        std::vector<T> values;
        // Another thread may run it in between, which finds more, or less.
        while (status == RACL_OK && needed > values.size() * sizeof(T)) {
            values.resize(needed / sizeof(T));
            status = racl_executable_read_found(get(), output, values.data(), values.size() * sizeof(T), &needed);
            if (status == RACL_INVALID_ARGUMENT && needed > values.size() * sizeof(T)) status = RACL_OK;
        }
        values.resize(status == RACL_OK ? needed / sizeof(T) : 0);
        return detail::give(status, std::move(values));
    }
    result<void> copy_output(uint32_t output, const stream &on, const tensor &to) const {
        return detail::check(racl_executable_copy_output(get(), output, on.get(), to.get()));
    }
    result<racl_run_counters> counters() const {
        racl_run_counters counters = {};
        counters.size = sizeof counters;
        int32_t status = racl_executable_counters(get(), &counters);
        return detail::give(status, std::move(counters));
    }
    result<void> clear_graphs() const { return detail::check(racl_executable_clear_graphs(get())); }
    result<void> limit_cores(uint32_t cube_cores, uint32_t vector_cores) const {
        return detail::check(racl_executable_limit_cores(get(), cube_cores, vector_cores));
    }
    result<void> signal(const char *gate, const stream &on) const {
        return detail::check(racl_executable_signal(get(), gate, on.get()));
    }
    result<void> wait_signal(const char *gate, const stream &on) const {
        return detail::check(racl_executable_wait_signal(get(), gate, on.get()));
    }

private:
    template <class Count, class Name>
    result<std::vector<std::string>> names(Count &&count, Name &&name) const {
        uint32_t many = 0;
        int32_t status = count(get(), &many);
        std::vector<std::string> all(status == RACL_OK ? many : 0);
        for (uint32_t at = 0; at < all.size() && status == RACL_OK; ++at) {
            size_t needed = 0;
            status = name(get(), at, nullptr, 0, &needed);
            all[at].resize(needed);
            if (status == RACL_OK) status = name(get(), at, &all[at][0], all[at].size(), &needed);
            if (!all[at].empty()) all[at].pop_back(); // the zero
        }
        return detail::give(status, std::move(all));
    }
    template <class T, class Function>
    result<std::vector<T>> elements(uint32_t output, Function &&function) const {
        return detail::elements<T>(
            [&](size_t *sizes, size_t room, size_t *rank, int32_t *dtype) {
                return racl_executable_output_shape(get(), output, sizes, room, rank, dtype);
            },
            [&](void *data, size_t size) { return function(get(), output, data, size); });
    }
};

class simulation : public detail::owner<detail::simulation_traits> {
public:
    using owner::owner;
    // Computes a plan without a device; the seed is that of operators that draw random numbers.
    static result<simulation> run(const plan &of, uint64_t seed, const std::vector<racl_given> &given,
                                  const std::vector<racl_symbol> &symbols = {}) {
        racl_simulation *made = nullptr;
        int32_t status = racl_simulation_new(of.get(), seed, given.data(), given.size(), symbols.data(),
                                             symbols.size(), &made);
        return detail::give(status, simulation(made));
    }
    result<std::vector<size_t>> shape(const char *output) const {
        size_t rank = 0;
        int32_t status = racl_simulation_output_shape(get(), output, nullptr, 0, &rank, nullptr);
        std::vector<size_t> sizes(rank);
        if (status == RACL_OK && rank > 0)
            status = racl_simulation_output_shape(get(), output, sizes.data(), sizes.size(), &rank, nullptr);
        return detail::give(status, std::move(sizes));
    }
    template <class T>
    result<std::vector<T>> read(const char *output) const {
        size_t needed = 0, rank = 0;
        int32_t dtype = 0, status = racl_simulation_output_shape(get(), output, nullptr, 0, &rank, &dtype);
        if (status == RACL_OK) status = detail::check_type<T>(dtype);
        if (status == RACL_OK) status = racl_simulation_read(get(), output, nullptr, 0, &needed);
        std::vector<T> values(status == RACL_OK ? needed / sizeof(T) : 0);
        if (status == RACL_OK)
            status = racl_simulation_read(get(), output, values.data(), values.size() * sizeof(T), &needed);
        return detail::give(status, std::move(values));
    }
};

// ---- The compile cache ----

namespace detail {
// Lends a function of the program a builder.
template <class Function>
int32_t build_with(void *user, racl_builder *lent) {
    builder g(lent);
    const int32_t status = guarded([&] { return status_of(*static_cast<Function *>(user), g); });
    // Another one that the function put into its place is its own, and ends here; what was lent would be empty.
    if (g.get() != lent)
        return status != RACL_OK ? status : racl_last_error_set(RACL_BUSY, "a function gave away the builder it was lent");
    g.release();
    return status;
}
} // namespace detail

class cache : public detail::owner<detail::cache_traits> {
public:
    using owner::owner;
    static result<cache> make(const racl_cache_options &options) {
        racl_cache *made = nullptr;
        int32_t status = racl_cache_new(&options, &made);
        return detail::give(status, cache(made));
    }
    // Under a name of a model, in the usual folder or this one.
    static result<cache> make(const char *name, const char *folder = nullptr) {
        racl_cache_options options = {};
        options.size = sizeof options;
        options.name = name;
        options.folder = folder;
        return make(options);
    }
    result<std::string> folder() const {
        return detail::text(
            [&](char *text, size_t size, size_t *needed) { return racl_cache_folder(get(), text, size, needed); });
    }
    result<plan> compile(const context &on, const racl_compile &what) const {
        racl_plan *made = nullptr;
        int32_t status = racl_cache_compile(get(), on.get(), &what, &made);
        return detail::give(status, plan(made));
    }
    // With a function that records the plan on the builder it is lent, in place of `build` and `user`. One that throws,
    // or gives a failure, fails the compilation. What a lambda captures is `user`: without RACL_COMPILE_IGNORE_USER such plans
    // are not cached. The size is set here. A plain function is put into a lambda: plans are known by the type of what
    // records them, which all such functions share.
    template <class Function>
    result<plan> compile(const context &on, racl_compile what, Function &&record) const {
        using of = std::remove_reference_t<Function>;
        static_assert(!std::is_function_v<of> && !std::is_pointer_v<of>, "put a plain function into a lambda");
        what.size = sizeof what;
        what.build = detail::is_empty(record) ? nullptr : detail::build_with<of>;
        what.user = const_cast<void *>(static_cast<const void *>(std::addressof(record)));
        if (std::is_empty_v<of>) what.flags |= RACL_COMPILE_IGNORE_USER;
        return compile(on, what);
    }
    template <class Function>
    result<plan> compile(const context &on, const char *function, Function &&record) const {
        racl_compile what = {};
        what.function = function;
        return compile(on, what, record);
    }
    // RACL_CACHE_... of the last compilation of a function.
    result<int32_t> status(const char *function) const {
        int32_t found = 0;
        int32_t status = racl_cache_status(get(), function, &found, nullptr, 0, nullptr);
        return detail::give(status, std::move(found));
    }
    result<racl_cache_stats> count() const {
        racl_cache_stats stats = {};
        stats.size = sizeof stats;
        int32_t status = racl_cache_count(get(), &stats);
        return detail::give(status, std::move(stats));
    }
};

// ---- Control of the mock: RACL_NOT_SUPPORTED where it was not compiled in ----

namespace mock {

inline result<void> hold(const stream &on) { return detail::check(racl_mock_hold(on.get())); }
inline result<void> release(const stream &on) { return detail::check(racl_mock_release(on.get())); }
// Also of those that nobody has any more.
inline result<void> release_all() { return detail::check(racl_mock_release_all()); }
// Work starts when it is waited for alone; gives what was set.
inline result<bool> stand_still(bool on) {
    int32_t former = 0;
    int32_t status = racl_mock_stand_still(on, &former);
    return detail::give(status, former != 0);
}
inline result<uint64_t> run() {
    uint64_t tasks = 0;
    int32_t status = racl_mock_run(&tasks);
    return detail::give(status, std::move(tasks));
}
inline result<std::chrono::nanoseconds> now() {
    uint64_t nanoseconds = 0;
    int32_t status = racl_mock_now(&nanoseconds);
    return detail::give(status, std::chrono::nanoseconds(nanoseconds));
}
template <class Rep, class Period>
result<void> advance(std::chrono::duration<Rep, Period> by) {
    return detail::check(racl_mock_advance(static_cast<uint64_t>(detail::nanoseconds(by))));
}
// How often a function of AscendCL was called.
inline result<uint64_t> calls(const char *function) {
    uint64_t count = 0;
    int32_t status = racl_mock_calls(function, &count);
    return detail::give(status, std::move(count));
}
inline result<void> fail(const char *function, uint64_t nth, int32_t code) {
    return detail::check(racl_mock_fail(function, nth, code));
}
inline result<void> fail_task(const char *function, uint64_t nth, int32_t code) {
    return detail::check(racl_mock_fail_task(function, nth, code));
}
inline result<void> clear_failures() { return detail::check(racl_mock_clear_failures()); }
inline result<racl_mock_live> count() {
    racl_mock_live live = {};
    live.size = sizeof live;
    int32_t status = racl_mock_count(&live);
    return detail::give(status, std::move(live));
}
// Prefetches so far, and their bytes.
inline result<std::pair<uint64_t, uint64_t>> prefetched() {
    std::pair<uint64_t, uint64_t> found;
    int32_t status = racl_mock_prefetched(&found.first, &found.second);
    return detail::give(status, std::move(found));
}
// 0 for those of the start.
inline result<void> limit_streams(uint32_t count) { return detail::check(racl_mock_limit_streams(count)); }
inline result<void> limit_events(uint32_t count) { return detail::check(racl_mock_limit_events(count)); }
inline result<void> set_l2_cache(uint64_t bytes) { return detail::check(racl_mock_set_l2_cache(bytes)); }
// Looks for accesses that nothing orders, RACL_MOCK_RACES_...; gives what was set.
inline result<int32_t> check_races(int32_t mode) {
    int32_t former = 0;
    int32_t status = racl_mock_check_races(mode, &former);
    return detail::give(status, std::move(former));
}
inline result<std::vector<std::string>> races() {
    racl_errors *list = nullptr;
    int32_t status = racl_mock_races(&list);
    return detail::give(status, status == RACL_OK ? detail::messages(list) : std::vector<std::string>());
}
inline result<void> log_launches(bool on) { return detail::check(racl_mock_log_launches(on)); }
// The operators that ran since.
inline result<std::vector<racl_mock_launch>> launches() {
    uint64_t count = 0;
    int32_t status = racl_mock_launch_count(&count);
    std::vector<racl_mock_launch> all(static_cast<size_t>(count));
    for (size_t at = 0; at < all.size() && status == RACL_OK; ++at) {
        all[at].size = sizeof all[at];
        status = racl_mock_launch_get(at, &all[at]);
    }
    return detail::give(status, std::move(all));
}
inline result<void> log_calls(bool on) { return detail::check(racl_mock_log_calls(on)); }
// The calls of AscendCL since.
inline result<std::vector<racl_mock_call>> logged_calls() {
    uint64_t count = 0;
    int32_t status = racl_mock_call_count(&count);
    std::vector<racl_mock_call> all(static_cast<size_t>(count));
    for (size_t at = 0; at < all.size() && status == RACL_OK; ++at) {
        all[at].size = sizeof all[at];
        status = racl_mock_call_get(at, &all[at]);
    }
    return detail::give(status, std::move(all));
}
inline result<void> reset() { return detail::check(racl_mock_reset()); }

} // namespace mock

} // namespace RACL_DETAIL_FORM
} // namespace racl

#endif
