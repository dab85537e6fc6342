// What a connection may bring and whose it is: its place, its share of the bytes, and the judge of
// heads that decides on both.
#include <algorithm>
#include <utility>

#include "base/peer_group.h"
#include "net/forwarded.h"
#include "net/http_connection.h"

namespace interlock {

HeadGate::Allowance HttpConnection::allow(HttpRequest& head, std::optional<std::uint64_t> length) {
    head.listener = peer_.listener;
    head.tls = peer_.tls;
    head.peer_is_loopback = peer_.is_loopback;
    head.peer_address = peer_.address;
    HttpShared& shared = loop_->shared();
    see_through_proxy(head, shared.trusted_proxies);
    const std::size_t ordinary_max = shared.limits.body_bytes_max;
    HeadVerdict verdict{.body_bytes_max = ordinary_max};
    if (shared.judge) {
        verdict = shared.judge(head);
    }
    is_urgent_ = verdict.is_urgent;
    refusal_ = std::move(verdict.refusal);
    owner_ = {
        .name = peer_.is_proxy ? peer_group(head.peer_address) : peer_.group, .is_known = false};
    if (!verdict.holder.empty()) {
        if (!peer_.is_proxy) {  // Whose connection carries one caller now and another then.
            know(verdict.holder);
        }
        owner_ = {.name = verdict.holder, .is_known = true};
    }
    // Chunks do not say how many there will be.
    if (verdict.is_large && (!length || *length > ordinary_max)) {
        if (!shared.large_bodies.take(verdict.holder)) {
            return {.body_bytes_max = 0, .fault = HttpFault::too_many_bodies};
        }
        large_holder_ = verdict.holder;
        read_deadline_ = NetClock::now() + shared.limits.large_body_read_timeout;
        has_begun_ = true;
        return {std::min(verdict.body_bytes_max, shared.large_bodies.bytes_max())};
    }
    return {std::min(verdict.body_bytes_max, ordinary_max)};
}

bool HttpConnection::keep(std::size_t count) {
    if (!loop_->shared().body_bytes.take(owner_, count)) {
        return false;
    }
    body_bytes_held_ += count;
    return true;
}

void HttpConnection::know(const std::string& holder) {
    if (!seat_.place) {
        return;
    }
    if (const auto victim = loop_->shared().places.know(seat_.place, holder)) {
        victim->loop().post([victim] { victim->close(); });
    }
}

bool HttpConnection::is_known() const {
    return !seat_.place || loop_->shared().places.is_known(seat_.place);
}

void HttpConnection::release_large() {
    if (const auto holder = std::exchange(large_holder_, std::nullopt)) {
        loop_->shared().large_bodies.give_back(*holder);
    }
}

void HttpConnection::release_body() {
    release_large();
    if (const std::size_t held = std::exchange(body_bytes_held_, 0); held > 0) {
        loop_->shared().body_bytes.give_back(owner_, held);
    }
}

void HttpConnection::begin_answer() {
    if (seat_.place) {
        loop_->shared().places.begin_answer(seat_.place);
    }
}

void HttpConnection::end_answer() {
    if (seat_.place) {
        loop_->shared().places.end_answer(seat_.place);
    }
}

}  // namespace interlock
