// Text as a reader takes it: what only looks like a letter, a sign or a blank is that one, and what
// cannot be seen is gone. "ｐａｓｓｗｏｒｄ", or a "password" with a zero-width space in it, reads
// as password, and so must whoever looks for secrets.
//
// It folds what Unicode's compatibility forms (NFKC) make ASCII of among full-width, mathematical
// and circled letters, digits and signs, and drops what has no width. Letters of other scripts that
// look alike (Cyrillic "а") stay: they are letters of words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

struct FoldedText {
    std::string text;
    // Where each byte of `text` comes from.
    std::vector<std::size_t> begins;
    std::vector<std::size_t> ends;
};

// Nothing when there is nothing to fold, which is nearly always.
std::optional<FoldedText> fold_look_alikes(std::string_view text);

}  // namespace interlock
