// match(variant, lambdas...): exhaustive dispatch; forgetting an alternative does not compile.
#pragma once

#include <utility>
#include <variant>

namespace interlock {

template <class... Cases>
struct Overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

template <class Variant, class... Cases>
decltype(auto) match(Variant&& variant, Cases&&... cases) {
    return std::visit(Overloaded{std::forward<Cases>(cases)...}, std::forward<Variant>(variant));
}

}  // namespace interlock
