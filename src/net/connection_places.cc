#include "net/connection_places.h"

#include <utility>

#include "base/check.h"
#include "net/http_connection.h"

namespace interlock {

struct ConnectionPlaces::Place {
    std::string group;  // The peer; once known, the holder.
    bool is_known = false;
    bool is_gone = false;
    bool is_idle = false;
    std::weak_ptr<HttpConnection> connection;
    std::list<PlacePtr>::iterator in_group;      // While idle ...
    std::list<PlacePtr>::iterator in_strangers;  // ... and a stranger.
};

ConnectionPlaces::Group& ConnectionPlaces::group_of(const Place& place) {
    return (place.is_known ? holders_ : peers_)[place.group];
}

void ConnectionPlaces::make_idle(const PlacePtr& place) {
    if (place->is_gone || std::exchange(place->is_idle, true)) {
        return;
    }
    std::list<PlacePtr>& own = group_of(*place).idle;
    place->in_group = own.insert(own.end(), place);
    if (!place->is_known) {
        place->in_strangers = idle_strangers_.insert(idle_strangers_.end(), place);
    }
}

void ConnectionPlaces::make_busy(Place& place) {
    if (place.is_gone || !std::exchange(place.is_idle, false)) {
        return;
    }
    if (!place.is_known) {
        idle_strangers_.erase(place.in_strangers);
    }
    group_of(place).idle.erase(place.in_group);
}

// It no longer counts.
void ConnectionPlaces::forget(Place& place) {
    make_busy(place);
    Groups& groups = place.is_known ? holders_ : peers_;
    const auto group = groups.find(place.group);
    CHECK(group != groups.end() && group->second.count > 0);
    if (--group->second.count == 0) {
        groups.erase(group);
    }
    --(place.is_known ? used_.known : used_.strangers);
}

std::shared_ptr<HttpConnection> ConnectionPlaces::expel(const PlacePtr& place) {
    const PlacePtr kept = place;  // The lists may hold the last.
    forget(*kept);
    kept->is_gone = true;
    ++used_.made_room;
    return kept->connection.lock();
}

std::shared_ptr<HttpConnection> ConnectionPlaces::expel_first(std::list<PlacePtr>& idle) {
    return idle.empty() ? nullptr : expel(idle.front());
}

ConnectionPlaces::Admission ConnectionPlaces::admit(std::string peer, bool is_shared) {
    const std::lock_guard lock(mutex_);
    Admission admission;
    const auto own = peers_.find(peer);
    const bool is_peer_full =
        !is_shared && own != peers_.end() && own->second.count >= bounds_.per_peer;
    if (is_peer_full || used_.strangers >= bounds_.strangers ||
        used_.strangers + used_.known >= bounds_.all) {
        std::list<PlacePtr>& idle = is_peer_full ? own->second.idle : idle_strangers_;
        if (idle.empty()) {
            return {};
        }
        admission.victim = expel_first(idle);
    }
    admission.place = std::make_shared<Place>();
    admission.place->group = std::move(peer);
    ++peers_[admission.place->group].count;
    ++used_.strangers;
    return admission;
}

void ConnectionPlaces::settle(const PlacePtr& place, std::weak_ptr<HttpConnection> connection) {
    const std::lock_guard lock(mutex_);
    place->connection = std::move(connection);
    make_idle(place);
}

void ConnectionPlaces::begin_answer(const PlacePtr& place) {
    const std::lock_guard lock(mutex_);
    make_busy(*place);
}

void ConnectionPlaces::end_answer(const PlacePtr& place) {
    const std::lock_guard lock(mutex_);
    make_idle(place);
}

std::shared_ptr<HttpConnection> ConnectionPlaces::know(
    const PlacePtr& place, const std::string& holder) {
    const std::lock_guard lock(mutex_);
    if (place->is_known || place->is_gone) {
        return nullptr;
    }
    std::shared_ptr<HttpConnection> victim;
    const auto own = holders_.find(holder);
    if (own != holders_.end() && own->second.count >= bounds_.per_holder) {
        if (own->second.idle.empty()) {
            return nullptr;  // Stays a stranger, and is answered as one.
        }
        victim = expel_first(own->second.idle);
    } else if (used_.known >= bounds_.known) {
        return nullptr;
    }
    const bool was_idle = place->is_idle;
    forget(*place);
    place->is_known = true;
    place->group = holder;
    ++holders_[holder].count;
    ++used_.known;
    if (was_idle) {
        make_idle(place);
    }
    return victim;
}

void ConnectionPlaces::leave(const PlacePtr& place) {
    const std::lock_guard lock(mutex_);
    if (!place->is_gone) {
        forget(*place);
        place->is_gone = true;
    }
}

std::shared_ptr<HttpConnection> ConnectionPlaces::take_oldest() {
    const std::lock_guard lock(mutex_);
    return expel_first(idle_strangers_);
}

bool ConnectionPlaces::is_known(const PlacePtr& place) const {
    const std::lock_guard lock(mutex_);
    return place->is_known;
}

ConnectionPlaces::Used ConnectionPlaces::used() const {
    const std::lock_guard lock(mutex_);
    return used_;
}

}  // namespace interlock
