#include "base/sha256_stream.h"

#include <gtest/gtest.h>

#include "base/crypto.h"

namespace interlock {
namespace {

TEST(Sha256Stream, GivesWhatTheWholeTextGivesHoweverItIsCut) {
    const std::string text(100'000, 'x');
    for (const std::size_t piece : {std::size_t{1}, std::size_t{63}, std::size_t{4096}}) {
        Sha256Stream stream;
        for (std::size_t at = 0; at < text.size(); at += piece) {
            stream.add(std::string_view(text).substr(at, piece));
        }
        EXPECT_EQ(stream.finish_hex(), sha256_hex(text));
    }
    EXPECT_EQ(Sha256Stream().finish_hex(), sha256_hex(""));
}

}  // namespace
}  // namespace interlock
