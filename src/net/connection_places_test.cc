// Who gets a place, without connections.
#include "net/connection_places.h"

#include <gtest/gtest.h>

#include "net/body_bytes.h"
#include "net/http_connection.h"

namespace interlock {
namespace {

using PlacePtr = ConnectionPlaces::PlacePtr;

PlacePtr enter(ConnectionPlaces& places, const std::string& peer) {
    const PlacePtr place = places.admit(peer, false).place;
    if (place) {
        places.settle(place, {});
    }
    return place;
}

TEST(ConnectionPlaces, KeepsPlacesForThoseWhoProveThemselvesAndForNewcomers) {
    ConnectionPlaces places({.all = 4, .strangers = 3, .known = 3, .per_peer = 9, .per_holder = 9});
    for (int i = 0; i < 10; ++i) {
        const PlacePtr one = enter(places, "peer");
        ASSERT_TRUE(one);
        places.begin_answer(one);
        places.know(one, "holder");
        EXPECT_EQ(places.is_known(one), i < 3) << i;  // The others stay strangers ...
        places.end_answer(one);
    }
    EXPECT_EQ(places.used().known, 3u);
    EXPECT_EQ(places.used().strangers, 1u);  // ... and make room for each other.
    EXPECT_EQ(places.used().made_room, 6u);
}

TEST(ConnectionPlaces, ClosesNobodyWhoIsBeingAnswered) {
    ConnectionPlaces places({.all = 4, .strangers = 2, .known = 3, .per_peer = 9, .per_holder = 9});
    for (int i = 0; i < 2; ++i) {
        places.begin_answer(enter(places, "peer"));
    }
    EXPECT_FALSE(enter(places, "other"));
    EXPECT_EQ(places.used().made_room, 0u);
}

TEST(ConnectionPlaces, AtTheBoundOfAHolderItsOwnIdleConnectionGoes) {
    ConnectionPlaces places({.all = 9, .strangers = 8, .known = 8, .per_peer = 9, .per_holder = 2});
    std::vector<PlacePtr> own;
    for (int i = 0; i < 3; ++i) {
        own.push_back(enter(places, "peer"));
        places.know(own.back(), "holder");
    }
    const PlacePtr other = enter(places, "peer");
    places.know(other, "another");
    EXPECT_TRUE(places.is_known(other));
    EXPECT_EQ(places.used().known, 3u);
    EXPECT_EQ(places.used().made_room, 1u);
    for (const PlacePtr& place : own) {
        places.leave(place);  // Also the one that has gone.
    }
    EXPECT_EQ(places.used().known, 1u);
}

TEST(ConnectionPlaces, AHolderWhoseConnectionsAreAllBusyStaysAStranger) {
    ConnectionPlaces places({.all = 9, .strangers = 8, .known = 8, .per_peer = 9, .per_holder = 1});
    const PlacePtr busy = enter(places, "peer");
    places.begin_answer(busy);
    places.know(busy, "holder");
    const PlacePtr second = enter(places, "peer");
    places.know(second, "holder");
    EXPECT_TRUE(places.is_known(busy));
    EXPECT_FALSE(places.is_known(second));
}

TEST(ConnectionPlaces, APeerAtItsBoundCostsNobodyElseAPlace) {
    ConnectionPlaces places({.all = 9, .strangers = 8, .known = 8, .per_peer = 2, .per_holder = 9});
    const PlacePtr other = enter(places, "other");
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(enter(places, "peer"));
    }
    EXPECT_EQ(places.used().strangers, 3u);
    EXPECT_EQ(places.used().made_room, 3u);
    places.leave(other);
    EXPECT_EQ(places.used().strangers, 2u);
}

TEST(BodyBytes, KeepsTheSharesOfStrangersAndOfEachOwner) {
    BodyBytes bytes(1600);
    const BodyOwner known{.name = "a", .is_known = true};
    const BodyOwner peer{.name = "a", .is_known = false};
    EXPECT_TRUE(bytes.take(known, 400));
    EXPECT_FALSE(bytes.take(known, 1));  // A fourth of all.
    EXPECT_TRUE(bytes.take(peer, 100));
    EXPECT_FALSE(bytes.take(peer, 1));  // A fourth of the strangers' fourth.
    for (const char* name : {"b", "c", "d"}) {
        EXPECT_TRUE(bytes.take({.name = name, .is_known = false}, 100));
    }
    EXPECT_FALSE(bytes.take({.name = "e", .is_known = false}, 1));  // All that strangers have.
    EXPECT_TRUE(bytes.take({.name = "b", .is_known = true}, 400));
    bytes.give_back(peer, 100);
    EXPECT_TRUE(bytes.take({.name = "e", .is_known = false}, 100));
    EXPECT_EQ(bytes.used(), 1200u);
}

}  // namespace
}  // namespace interlock
