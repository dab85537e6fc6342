#include "app/wiring/relay_platform.h"

#include "app/wiring/data_path.h"
#include "app/wiring/ledger_folder.h"
#include "app/wiring/vault_folder.h"
#include "base/errors.h"
#include "base/log.h"
#include "engine/sqlite/sqlite_ledger_store.h"

namespace interlock {
namespace {

constexpr std::size_t kKeySetBytesMax = 256 * 1024;

// An issuer's key set; the operator named the URL, so it may be anywhere.
Result<Json> fetch_keys(const RelayIssuer& issuer) {
    WebCall call;
    call.url = issuer.jwks_url;
    call.timeout = std::chrono::seconds(10);
    call.body_bytes_max = kKeySetBytesMax;
    TRY_ASSIGN(const HttpResponse answer, WebClient::create()->send(call));
    if (answer.status != 200) {
        return fail(
            errors::unavailable,
            "the issuer's key set was answered with " + std::to_string(answer.status));
    }
    return parse_json(answer.body);
}

RelayDial dial_of(const AuthVerdict& verdict) {
    RelayDial dial;
    dial.caller = verdict.caller;
    switch (verdict.kind) {
        case AuthVerdict::Kind::accepted:
            dial.verdict = RelayDial::Verdict::accepted;
            break;
        case AuthVerdict::Kind::expired:
            dial.verdict = RelayDial::Verdict::expired;
            break;
        case AuthVerdict::Kind::rejected:
            dial.verdict = RelayDial::Verdict::wrong;
            break;
        case AuthVerdict::Kind::unavailable:
            dial.verdict = RelayDial::Verdict::unavailable;
            break;
    }
    return dial;
}

}  // namespace

Result<std::unique_ptr<RelayPlatform>> RelayPlatform::open(Parts parts) {
    std::unique_ptr<RelayPlatform> platform(new RelayPlatform(std::move(parts)));
    TRY(platform->build());
    return platform;
}

RelayPlatform::~RelayPlatform() {
    stop();
}

Result<void> RelayPlatform::build() {
    const RelayConfig& config = parts_.config.relay;
    SqliteRelayOptions options;
    options.path = relay_database_path(parts_.data_folder);
    TRY_ASSIGN(store_, SqliteRelayStore::open(options));
    TRY_ASSIGN(
        masters_,
        open_master_keys(
            chosen_master_key(parts_.data_folder, parts_.config.vault_master_key_file)));
    TRY_ASSIGN(FileMediaFolder media, FileMediaFolder::open(parts_.data_folder + "/media"));
    media_.emplace(std::move(media));
    std::vector<Cidr> allowed;
    for (const std::string& text : config.wake_allow_cidrs) {
        allowed.push_back(*parse_cidr(text));  // Checked when it was read.
    }
    waker_ = std::make_unique<HttpWakeCaller>(EgressGuard(std::move(allowed)));
    TRY_ASSIGN(
        bots_,
        make_relay_bots(config.bots, {parts_.clock, parts_.ids, parts_.config.http_public_url}));
    std::vector<ChatPlatform*> bots;
    for (const auto& bot : bots_.all) {
        bots.push_back(bot.get());
    }
    std::set<BotKey> silent;
    for (const RelayBotConfig& bot : config.bots) {
        if (!bot.answers_strangers) {
            silent.insert({bot.platform, bot.bot_id});
        }
    }
    plane_ = std::make_unique<RelayPlane>(RelayPlane::Parts{
        .store = *store_,
        .bus = bus_,
        .waker = *waker_,
        .masters = *masters_,
        .media = *media_,
        .clock = parts_.clock,
        .ids = parts_.ids,
        .bots = std::move(bots),
        .issuers = config.issuers,
        .fetch_keys = fetch_keys,
        .tenant_exists = parts_.tenant_exists,
        .require_address = {config.require_address.begin(), config.require_address.end()},
        .silent_to_strangers = std::move(silent),
        .delivery = config.delivery});
    TRY(check_chains());
    TRY(open_plane());
    chains_->settle();
    face_ = std::make_unique<RelayFace>(RelayFace::Parts{
        .desk = plane_->desk,
        .authenticate =
            [this](std::string_view bearer) {
                return dial_of(plane_->credentials.authenticate(bearer, parts_.clock.now()));
            },
        .is_ready = [this] { return plane_->is_ready(); },
        .public_url = parts_.config.http_public_url});
    http_ = std::make_unique<RelayHttp>(RelayHttp::Parts{
        .credentials = plane_->credentials,
        .management = plane_->management,
        .inbox = plane_->inbound,
        .bot = [this](const BotKey& key) { return plane_->bot(key); },
        .clock = parts_.clock});
    media_http_ = std::make_unique<RelayMediaHttp>(
        plane_->media, [this](const HttpRequest& request) { return http_->caller_of(request); });
    return {};
}

Result<void> RelayPlatform::open_plane() {
    plane_->state.codes_void_before = parts_.restored.void_before;
    if (parts_.restored.is_unconfirmed) {
        log_warn(
            "relay_held",
            {{"message",
              "restored from a backup; opens at the next start once a human has "
              "accepted the break of _system"}});
        is_shut_ = true;
        // Nobody is served, but a break is sealed together with the rows that stand behind it.
        TRY(plane_->lane.open());
    } else if (const auto opened = plane_->open(); !opened) {
        if (opened.error() != errors::master_key_missing &&
            opened.error() != errors::master_key_wrong) {
            return opened;
        }
        // Everything else works; gateways are told to come again.
        log_error("relay_shut", {{"message", opened.error().message}});
        is_shut_ = true;
    }
    return {};
}

Result<void> RelayPlatform::check_chains() {
    TRY_ASSIGN(FileHeadMirror heads, FileHeadMirror::open(relay_heads_folder(parts_.data_folder)));
    heads_.emplace(std::move(heads));
    chains_ = std::make_unique<RelayChains>(
        RelayChains::Parts{.lane = plane_->lane, .mirror = *heads_, .keys = parts_.seal_keys});
    TRY_ASSIGN(
        const auto file,
        SqliteLedgerStore::open(
            {.path = relay_database_path(parts_.data_folder), .read_only = true}));
    TRY_ASSIGN(RowSet rows, read_relay_rows(*file));
    TRY_ASSIGN(const auto reports, chains_->open(*file, std::move(rows), parts_.known));
    return stop_for(reports);
}

Result<void> RelayPlatform::stop_for(const std::vector<ChainReport>& reports) {
    log_broken_chains("relay", reports);
    for (const ChainReport& report : reports) {
        if (report.fault) {
            TRY(parts_.on_break(report));
        }
    }
    return {};
}

void RelayPlatform::attach(const SubmitTurn& submit) {
    plane_->alerts.begin([submit, exists = parts_.tenant_exists](
                             const AlertRow& alert, std::function<void(bool)> done) {
        if (alert.tenant_id != system_tenant() && !exists(alert.tenant_id)) {
            done(true);  // The tenant was let go: nobody is left to be told.
            return;
        }
        submit(relay_alert_turn(alert, std::move(done)));
    });
}

void RelayPlatform::duty(Plane& ledger) {
    if (walk_ == Walk::done) {
        if (auto stopped = stop_for(found_); !stopped) {
            log_error("relay_break_unrecorded", {{"message", stopped.error().message}});
        }
        walk_ = Walk::told;
    }
    if (walk_ != Walk::not_needed || !plane_->lane.is_lost()) {
        return;
    }
    walk_ = Walk::under_way;
    parts_.known.keys = ledger.ledger.lineage();  // It has moved on since the start.
    const bool is_begun = plane_->workers.try_run([this] {
        auto reports = walk_again();
        if (reports) {
            found_ = *std::move(reports);
        } else {
            log_error("relay_chains_unreadable", {{"message", reports.error().message}});
        }
        walk_ = Walk::done;
    });
    if (!is_begun) {
        walk_ = Walk::not_needed;  // In a later round.
    }
}

// The lane is lost: nobody writes to what is read here.
Result<std::vector<ChainReport>> RelayPlatform::walk_again() {
    TRY_ASSIGN(auto mirror, heads_->load());
    TRY_ASSIGN(
        const auto file,
        SqliteLedgerStore::open(
            {.path = relay_database_path(parts_.data_folder), .read_only = true}));
    std::map<TenantId, RowSet> rows;
    TRY_ASSIGN(rows[system_tenant()], read_relay_rows(*file));
    return check_ledger(
        {.store = *file,
         .mirror = std::move(mirror),
         .keys = parts_.known.keys,
         .book = kRelayBook,
         .expected = &parts_.known.expected,
         .turn = &parts_.known.turn,
         .rows = std::move(rows),
         .from_last_seal = true,
         .is_from_before = parts_.known.is_from_before});
}

void RelayPlatform::start() {
    if (!is_shut_) {
        plane_->start();
    }
}

void RelayPlatform::stop() {
    if (plane_) {
        plane_->stop();
    }
    if (waker_) {
        waker_->stop();
    }
}

bool RelayPlatform::takes(const HttpRequest& request) const {
    return RelayFace::takes(request) || RelayMediaHttp::takes(request) || http_->takes(request);
}

HeadVerdict RelayPlatform::judge(const HttpRequest& head) const {
    if (RelayFace::takes(head)) {
        return face_->judge(head);
    }
    return RelayMediaHttp::takes(head) ? media_http_->judge(head) : http_->judge(head);
}

void RelayPlatform::handle(HttpRequest request, HttpResponderPtr responder) {
    if (RelayFace::takes(request)) {
        face_->handle(request, responder);
    } else if (RelayMediaHttp::takes(request)) {
        media_http_->handle(std::move(request), std::move(responder));
    } else {
        http_->handle(std::move(request), std::move(responder));
    }
}

}  // namespace interlock
