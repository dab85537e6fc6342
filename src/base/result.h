// How functions of ours fail: Result<T> is a value or an Error, never an exception.
//
// An Error carries what a caller needs in order to act: a stable code (programs match on it), one
// plain sentence (people read it), whether the same call may safely be made again, and what to do
// next. The fixed part of that lives in an ErrorKind, declared once as a constant: the generic ones
// are in base/errors.h, those of a contract in contracts/.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace interlock {

struct ErrorKind {
    std::string_view code;       // Stable, snake_case; never renamed once released.
    int http_status;             // How the HTTP face reports it.
    bool retryable;              // True when the same request may be sent again unchanged.
    std::string_view next_step;  // What the caller should do, one sentence.
};

// One thing wrong with one place of a document: "plan.intents[2].qty", "must be positive".
struct FieldProblem {
    std::string path;
    std::string problem;
};

struct Error {
    const ErrorKind* kind;  // Never null; points at a constant with static lifetime.
    std::string message;    // One sentence; never contains a secret.
    std::string next_step;  // Empty: the kind's own.
    std::vector<FieldProblem> problems;
    // Seconds after which a retry makes sense, for overload; 0 means not stated.
    int retry_after_seconds = 0;

    std::string_view code() const { return kind->code; }
    int http_status() const { return kind->http_status; }
    bool retryable() const { return kind->retryable; }
    std::string_view next() const {
        return next_step.empty() ? kind->next_step : std::string_view(next_step);
    }
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(const ErrorKind& kind, std::string message) {
    return std::unexpected(Error{&kind, std::move(message), {}, {}});
}

inline std::unexpected<Error> fail(const ErrorKind& kind, std::string message, std::string next) {
    return std::unexpected(Error{&kind, std::move(message), std::move(next), {}});
}

inline bool operator==(const Error& error, const ErrorKind& kind) {
    return error.kind->code == kind.code;
}

}  // namespace interlock

#define INTERLOCK_CONCAT_INNER(a, b) a##b
#define INTERLOCK_CONCAT(a, b) INTERLOCK_CONCAT_INNER(a, b)

// Returns the error of `expression` from the enclosing function, if it has one.
#define TRY(expression)                                                           \
    do {                                                                          \
        if (auto tried = (expression); !tried) {                                  \
            return std::unexpected<::interlock::Error>(std::move(tried).error()); \
        }                                                                         \
    } while (false)

// TRY_ASSIGN(const Json json, parse_json(text)): declares or returns the error.
#define TRY_ASSIGN(declaration, expression)                         \
    auto INTERLOCK_CONCAT(tried_, __LINE__) = (expression);         \
    if (!INTERLOCK_CONCAT(tried_, __LINE__)) {                      \
        return std::unexpected<::interlock::Error>(                 \
            std::move(INTERLOCK_CONCAT(tried_, __LINE__)).error()); \
    }                                                               \
    declaration = *std::move(INTERLOCK_CONCAT(tried_, __LINE__))
