#include "relay/platforms/telegram/update_order.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <thread>

namespace interlock {
namespace {

TEST(UpdateOrder, ConfirmsOnlyTheStartThatIsStored) {
    UpdateOrder order;
    for (const std::int64_t id : {1, 2, 3}) {
        order.begin(id, std::to_string(id));
    }
    order.settle(3, true);
    order.settle(1, true);
    order.settle(2, false);
    EXPECT_TRUE(order.await_all());
    const UpdateOrder::Progress progress = order.advance({1, 2, 3});
    EXPECT_EQ(progress.offset, 2);
    EXPECT_FALSE(progress.is_complete);
    EXPECT_FALSE(order.is_stored(1));  // Telegram will not repeat it.
    EXPECT_FALSE(order.is_stored(2));
    EXPECT_TRUE(order.is_stored(3));
    order.begin(2, "2");
    order.settle(2, true);
    EXPECT_EQ(order.advance({2, 3}).offset, 4);
}

TEST(UpdateOrder, ConfirmsNothingWhenTheFirstWasRefused) {
    UpdateOrder order;
    order.begin(5, "a");
    order.settle(5, false);
    EXPECT_FALSE(order.advance({5}).offset.has_value());
}

TEST(UpdateOrder, AChatWaitsForItsFormerMessageAndOthersDoNot) {
    UpdateOrder order;
    order.begin(1, "a");
    EXPECT_TRUE(order.await_chat("b"));
    std::thread answering([&] { order.settle(1, true); });
    EXPECT_TRUE(order.await_chat("a"));
    answering.join();
}

TEST(UpdateOrder, NothingMoreIsHandedInAfterARefusal) {
    UpdateOrder order;
    order.begin(1, "a");
    order.settle(1, false);
    EXPECT_FALSE(order.await_chat("a"));
    EXPECT_FALSE(order.await_chat("b"));
    order.advance({1});
    EXPECT_TRUE(order.await_chat("a"));
}

TEST(UpdateOrder, StopEndsEveryWait) {
    UpdateOrder order;
    order.begin(1, "a");
    std::thread stopping([&] { order.stop(); });
    EXPECT_FALSE(order.await_all());
    EXPECT_FALSE(order.await_chat("a"));
    stopping.join();
}

// Whatever is stored and refused in whatever order: no update that is not stored is ever confirmed.
TEST(UpdateOrder, NeverConfirmsWhatIsNotStored) {
    EXPECT_TRUE(rc::check([](const std::vector<bool>& stored) {
        UpdateOrder order;
        std::vector<std::int64_t> ids;
        for (std::size_t i = 0; i < stored.size(); ++i) {
            ids.push_back(static_cast<std::int64_t>(i));
            order.begin(ids.back(), "chat" + std::to_string(i));
        }
        for (std::size_t i = stored.size(); i-- > 0;) {
            order.settle(static_cast<std::int64_t>(i), stored[i]);
        }
        const UpdateOrder::Progress progress = order.advance(ids);
        const auto first_refused = static_cast<std::int64_t>(
            std::find(stored.begin(), stored.end(), false) - stored.begin());
        RC_ASSERT(progress.offset.value_or(0) == first_refused);
        RC_ASSERT(
            progress.is_complete == (first_refused == static_cast<std::int64_t>(stored.size())));
    }));
}

}  // namespace
}  // namespace interlock
