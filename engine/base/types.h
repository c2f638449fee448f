// SPDX-License-Identifier: Apache-2.0
// Replaces <type_traits> and <iterator>, because compilers for bare metal may come without C++ headers.
#pragma once

#include <stddef.h>

namespace goldcrest {
template <bool kCondition, typename Yes, typename No> struct Choice { using Type = Yes; };
template <typename Yes, typename No> struct Choice<false, Yes, No> { using Type = No; };
// Yes or No.
template <bool kCondition, typename Yes, typename No> using Choose = typename Choice<kCondition, Yes, No>::Type;

// Stands for a number that a build does not have: it is 0 and, as a [[no_unique_address]] member, takes no room.
struct NoNumber {
  constexpr NoNumber(size_t = 0) {}
  constexpr operator unsigned() const { return 0; }
};

// Selects a specialization if all these types exist.
template <typename...> using IfValid = void;

template <typename T> struct Unqualified { using Type = T; };
template <typename T> struct Unqualified<const T> : Unqualified<T> {};
template <typename T> struct Unqualified<T&> : Unqualified<T> {};
// The type without const and reference.
template <typename T> using Plain = typename Unqualified<T>::Type;

template <typename T> constexpr bool kIsMemberFunction = false;
template <typename Class, typename Result> constexpr bool kIsMemberFunction<Result (Class::*)() const> = true;

template <typename T, size_t kN> constexpr size_t count_of(const T (&)[kN]) { return kN; }
}  // namespace goldcrest
