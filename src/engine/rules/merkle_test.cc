#include "engine/rules/merkle.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crypto.h"

namespace interlock {
namespace {

std::vector<std::string> leaves(std::size_t count) {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < count; ++i) {
        made.push_back("leaf " + std::to_string(i));
    }
    return made;
}

std::string leaf(const std::string& text) {
    return sha256(std::string(1, '\0') + text);
}
std::string node(const std::string& left, const std::string& right) {
    return sha256('\1' + left + right);
}

// RFC 6962 §2.1: the tree of three leaves has its third one alone on the right.
TEST(Merkle, RootIsTheOneOfTheStandard) {
    EXPECT_EQ(merkle_root({}), sha256_hex(""));
    EXPECT_EQ(merkle_root(leaves(1)), to_hex(leaf("leaf 0")));
    EXPECT_EQ(
        merkle_root(leaves(3)), to_hex(node(node(leaf("leaf 0"), leaf("leaf 1")), leaf("leaf 2"))));
}

TEST(Merkle, EveryPathLeadsToTheRootAndNoOther) {
    for (std::size_t count = 1; count <= 17; ++count) {
        const auto all = leaves(count);
        const MerkleTree tree = merkle_tree(all);
        EXPECT_EQ(tree.root, merkle_root(all));
        for (std::size_t i = 0; i < count; ++i) {
            MerklePlace place{i, count, merkle_path(all, i)};
            EXPECT_EQ(tree.paths[i], place.path);
            EXPECT_EQ(merkle_root_from(all[i], place), merkle_root(all));
            EXPECT_NE(merkle_root_from("another", place), merkle_root(all));
            if (!place.path.empty()) {
                place.path.pop_back();
                EXPECT_EQ(merkle_root_from(all[i], place), "");
            }
        }
    }
    EXPECT_EQ(merkle_root_from("leaf 0", {3, 3, {}}), "");
}

}  // namespace
}  // namespace interlock
