#pragma once
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
namespace std {
using ::ptrdiff_t;
using ::size_t;
using nullptr_t = decltype(nullptr);
enum class byte : unsigned char {};
}  // namespace std
#define NULL nullptr
#define offsetof(type, member) __builtin_offsetof(type, member)
