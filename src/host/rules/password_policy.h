// What a new password must be like, beyond its length: nobody's first guess.
//
// A password is read as a row of pieces: a word of the list (also with 0 for o and the like), a run
// of one character, a sequence or a walk on the keyboard, a year, the own address, or else a single
// character. One piece is about what a guesser tries in one step, so a long password of few pieces
// is a short one.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace interlock {

inline constexpr std::size_t kPasswordCharactersMin = 12;
inline constexpr std::size_t kPasswordPiecesMin = 5;

// `invalid_request` when a new password is too short, too long, no text or too easily guessed.
// `email`, when known, is that of whose password it will be.
Result<void> check_new_password(std::string_view password, std::string_view email = {});

// How many pieces a guesser has to find.
std::size_t password_pieces(std::string_view password, std::string_view email = {});

// The list behind it, lower case, in order; for the tests.
bool is_common_password_word(std::string_view word);
std::size_t common_password_words();

}  // namespace interlock
