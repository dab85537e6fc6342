// Who may have a connection. Callers who proved who they are have places of their own; everybody
// else is a stranger, and the stranger that was silent longest makes room for the next one.
//
// Invariants:
// - A newcomer is let in unless every stranger is being answered at this moment.
// - Strangers never hold more than their share, so those who proved themselves always find places;
//   those never hold the last places, so that newcomers do.
// - No stranger ever costs a known connection its place. A holder at its bound loses its own idle
//   connection, a peer at its bound the stranger of its own that was silent longest.
// - Only a connection that is not being answered is closed.
//
// Thread-safe. A place belongs to one connection; closing a victim is the caller's work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace interlock {

class HttpConnection;

struct PlaceBounds {
    std::size_t all = 4096;
    std::size_t strangers = 3072;
    std::size_t known = 3584;
    std::size_t per_peer = 512;     // Strangers of one address or /64.
    std::size_t per_holder = 2048;  // Connections of one credential's owner.
};

class ConnectionPlaces {
public:
    struct Place;
    using PlacePtr = std::shared_ptr<Place>;

    explicit ConnectionPlaces(PlaceBounds bounds) : bounds_(bounds) {}

    struct Admission {
        PlacePtr place;                               // Null: refused.
        std::shared_ptr<HttpConnection> victim = {};  // To be closed.
    };
    // `is_shared`: the peer stands for many (a proxy of ours), so its own bound does not hold.
    Admission admit(std::string peer, bool is_shared);
    // Whose place it is; until then it is nobody's victim.
    void settle(const PlacePtr& place, std::weak_ptr<HttpConnection> connection);

    // A request is being answered, so the connection must not be closed now; the end of that.
    void begin_answer(const PlacePtr& place);
    void end_answer(const PlacePtr& place);
    // The caller proved to be `holder`. Gives a victim of the holder's own. When there is no place
    // left among the known, or the connection has a holder already, nothing changes.
    std::shared_ptr<HttpConnection> know(const PlacePtr& place, const std::string& holder);
    void leave(const PlacePtr& place);
    // The stranger that was silent longest, whatever the bounds; null: there is none.
    std::shared_ptr<HttpConnection> take_oldest();

    bool is_known(const PlacePtr& place) const;
    struct Used {
        std::size_t strangers = 0;
        std::size_t known = 0;
        std::uint64_t made_room = 0;  // Victims so far.
    };
    Used used() const;

private:
    struct Group {
        std::size_t count = 0;
        std::list<PlacePtr> idle;  // Silent longest first.
    };
    using Groups = std::unordered_map<std::string, Group>;

    Group& group_of(const Place& place);
    void make_idle(const PlacePtr& place);
    void make_busy(Place& place);
    void forget(Place& place);
    std::shared_ptr<HttpConnection> expel(const PlacePtr& place);
    std::shared_ptr<HttpConnection> expel_first(std::list<PlacePtr>& idle);

    const PlaceBounds bounds_;
    mutable std::mutex mutex_;  // ADR 0016.
    Groups peers_;              // Of strangers.
    Groups holders_;            // Of the known.
    std::list<PlacePtr> idle_strangers_;
    Used used_;
};

}  // namespace interlock
