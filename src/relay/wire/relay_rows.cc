#include "relay/wire/relay_rows.h"

#include "base/errors.h"
#include "base/json.h"

namespace interlock {
namespace {

void append_escaped(std::string& out, std::string_view part) {
    for (const char c : part) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
}

// One listing of a row's fields serves both ways: a RowWriter adds what is set, a RowReader fills
// in what is there.

class RowWriter {
public:
    void operator()(std::string_view key, const std::string& text) {
        if (!text.empty()) {
            json_.set(std::string(key), text);
        }
    }
    void operator()(std::string_view key, const TenantId& id) { (*this)(key, id.text()); }
    void operator()(std::string_view key, bool flag) {
        if (flag) {
            json_.set(std::string(key), true);
        }
    }
    void operator()(std::string_view key, std::int64_t number) {
        if (number != 0) {
            json_.set(std::string(key), number);
        }
    }
    void operator()(std::string_view key, Timestamp at) { (*this)(key, at.microseconds); }
    void operator()(std::string_view key, const std::optional<Timestamp>& at) {
        if (at) {
            json_.set(std::string(key), at->microseconds);
        }
    }
    void operator()(std::string_view key, const PrincipalPolicy& policy) {
        json_.set(std::string(key), encode(policy));
    }
    void operator()(std::string_view key, const RelevancePolicy& policy) {
        json_.set(std::string(key), encode(policy));
    }
    template <class Item>
    void operator()(std::string_view key, const std::vector<Item>& items) {
        if (items.empty()) {
            return;
        }
        Json list = Json::array();
        for (const Item& item : items) {
            list.push(json_of(item));
        }
        json_.set(std::string(key), std::move(list));
    }
    Json take() { return std::move(json_); }

private:
    static Json json_of(const std::string& text) { return text; }
    static Json json_of(const PrincipalPolicy& policy) { return encode(policy); }
    static Json json_of(const RelevancePolicy& policy) { return encode(policy); }
    template <class Row>
    static Json json_of(const Row& row) {
        RowWriter writer;
        fields(const_cast<Row&>(row), writer);  // The listing is shared with the reader.
        return writer.take();
    }

    Json json_ = Json::object();
};

class RowReader {
public:
    explicit RowReader(const Json& json) : json_(json), ok_(json.is_object()) {}

    void operator()(std::string_view key, std::string& text) {
        if (const Json* value = json_.find(key)) {
            ok_ = ok_ && value->is_string();
            text = value->is_string() ? value->as_string() : std::string();
        }
    }
    void operator()(std::string_view key, TenantId& id) {
        std::string text;
        (*this)(key, text);
        id = TenantId::trusted(std::move(text));
    }
    void operator()(std::string_view key, bool& flag) {
        if (const Json* value = json_.find(key)) {
            ok_ = ok_ && value->is_bool();
            flag = value->is_bool() && value->as_bool();
        }
    }
    void operator()(std::string_view key, std::int64_t& number) {
        if (const Json* value = json_.find(key)) {
            const auto read = value->is_number() ? value->as_int64() : std::nullopt;
            ok_ = ok_ && read.has_value();
            number = read.value_or(0);
        }
    }
    void operator()(std::string_view key, Timestamp& at) { (*this)(key, at.microseconds); }
    void operator()(std::string_view key, std::optional<Timestamp>& at) {
        if (json_.find(key) != nullptr) {
            at.emplace();
            (*this)(key, at->microseconds);
        }
    }
    template <class Item>
    void operator()(std::string_view key, std::vector<Item>& items) {
        const Json* list = json_.find(key);
        if (list == nullptr) {
            return;
        }
        if (!list->is_array()) {
            ok_ = false;
            return;
        }
        for (const Json& item : list->items()) {
            read_item(item, items.emplace_back());
        }
    }
    bool ok() const { return ok_; }

private:
    void read_item(const Json& json, std::string& text) {
        ok_ = ok_ && json.is_string();
        text = json.is_string() ? json.as_string() : std::string();
    }
    void read_item(const Json& json, PrincipalPolicy& policy) {
        take(decode_principal_policy(json), policy);
    }
    void read_item(const Json& json, RelevancePolicy& policy) {
        take(decode_relevance_policy(json), policy);
    }
    template <class Row>
    void read_item(const Json& json, Row& row) {
        RowReader reader(json);
        fields(row, reader);
        ok_ = ok_ && reader.ok();
    }
    template <class Policy>
    void take(Result<Policy> read, Policy& policy) {
        ok_ = ok_ && read.has_value();
        if (read) {
            policy = *std::move(read);
        }
    }

    const Json& json_;
    bool ok_;
};

template <class F>
void fields(SealedSecret& row, F&& f) {
    f("sealed", row.sealed);
    f("made_at", row.made_at);
    f("retires_at", row.retires_at);
}

template <class F>
void fields(GatewayRow& row, F&& f) {
    f("gateway_id", row.gateway_id);
    f("tenant_id", row.tenant_id);
    f("instance_id", row.instance_id);
    f("secrets", row.secrets);
    f("wake_url", row.wake_url);
    f("is_wake_trusted", row.is_wake_trusted);
    f("display_name", row.display_name);
    f("made_by", row.made_by);
    f("made_at", row.made_at);
    f("revoked_at", row.revoked_at);
}

template <class F>
void fields(BotIdentityRow& row, F&& f) {
    f("platform", row.platform);
    f("bot_id", row.bot_id);
}

template <class F>
void fields(InstanceRow& row, F&& f) {
    f("instance_id", row.instance_id);
    f("tenant_id", row.tenant_id);
    f("is_flipped", row.is_flipped);
    f("epoch", row.epoch);
    f("is_overflowing", row.is_overflowing);
    f("seen_at", row.seen_at);
    f("principals", row.principals);
    f("relevance", row.relevance);
    f("identities", row.identities);
    f("made_at", row.made_at);
}

template <class F>
void fields(DeliveryKeyRow& row, F&& f) {
    f("sealed", row.sealed);
}

template <class F>
void fields(RouteRow& row, F&& f) {
    f("platform", row.platform);
    f("bot_id", row.bot_id);
    f("discriminator", row.discriminator);
    f("tenant_id", row.tenant_id);
    f("made_at", row.made_at);
}

template <class F>
void fields(BindingRow& row, F&& f) {
    f("platform", row.platform);
    f("bot_id", row.bot_id);
    f("user_id", row.user_id);
    f("instance_id", row.instance_id);
    f("tenant_id", row.tenant_id);
    f("user_name", row.user_name);
    f("made_by", row.made_by);
    f("made_at", row.made_at);
}

template <class F>
void fields(DmDefaultRow& row, F&& f) {
    f("platform", row.platform);
    f("bot_id", row.bot_id);
    f("user_id", row.user_id);
    f("instance_id", row.instance_id);
    f("wish_instance", row.wish_instance);
    f("wish_at", row.wish_at);
    f("is_wish_told", row.is_wish_told);
}

template <class F>
void fields(ScopeRow& row, F&& f) {
    f("platform", row.platform);
    f("guild_id", row.guild_id);
    f("channel_id", row.channel_id);
    f("instance_id", row.instance_id);
    f("tenant_id", row.tenant_id);
    f("made_at", row.made_at);
}

template <class F>
void fields(ChatRow& row, F&& f) {
    f("platform", row.platform);
    f("bot_id", row.bot_id);
    f("chat_id", row.chat_id);
    f("tenant_id", row.tenant_id);
    f("guild_id", row.guild_id);
    f("parent_chat_id", row.parent_chat_id);
    f("is_dm", row.is_dm);
    f("dm_user", row.dm_user);
    f("name", row.name);
    f("chat_type", row.chat_type);
    f("delivered_to", row.delivered_to);
}

template <class F>
void fields(SentRow& row, F&& f) {
    f("instance_id", row.instance_id);
    f("outbound_id", row.outbound_id);
}

template <class F>
void fields(EnrollmentRow& row, F&& f) {
    f("tenant_id", row.tenant_id);
    f("made_by", row.made_by);
    f("made_at", row.made_at);
    f("used_at", row.used_at);
    f("used_by", row.used_by);
}

template <class F>
void fields(TenantTokenRow& row, F&& f) {
    f("tenant_id", row.tenant_id);
    f("made_by", row.made_by);
    f("made_at", row.made_at);
}

template <class F>
void fields(LinkCodeRow& row, F&& f) {
    f("platform", row.platform);
    f("bot_id", row.bot_id);
    f("instance_id", row.instance_id);
    f("tenant_id", row.tenant_id);
    f("made_at", row.made_at);
}

template <class F>
void fields(CapabilityRow& row, F&& f) {
    f("tenant_id", row.tenant_id);
    f("instance_id", row.instance_id);
    f("platform", row.platform);
    f("bot_id", row.bot_id);
    f("session_key", row.session_key);
    f("kind", row.kind);
    f("chat_id", row.chat_id);
    f("sealed", row.sealed);
    f("is_open", row.is_open);
    f("expires_at", row.expires_at);
}

template <class F>
void fields(OutboundRow& row, F&& f) {
    f("outbound_id", row.outbound_id);
    f("tenant_id", row.tenant_id);
    f("instance_id", row.instance_id);
    f("platform", row.platform);
    f("bot_id", row.bot_id);
    f("chat_id", row.chat_id);
    f("op", row.op);
    f("action", row.action);
    f("digest", row.digest);
    f("state", row.state);
    f("result", row.result);
    f("message_ids", row.message_ids);
    f("replay_of", row.replay_of);
    f("asked_at", row.asked_at);
    f("settled_at", row.settled_at);
}

template <class F>
void fields(OutboundKeyRow& row, F&& f) {
    f("outbound_id", row.outbound_id);
    f("digest", row.digest);
}

template <class F>
void fields(StrangerRow& row, F&& f) {
    f("number", row.number);
    f("tenant_id", row.tenant_id);
    f("platform", row.platform);
    f("bot_id", row.bot_id);
    f("user_id", row.user_id);
    f("user_name", row.user_name);
    f("chat_id", row.chat_id);
    f("chat_name", row.chat_name);
    f("chat_type", row.chat_type);
    f("discriminator", row.discriminator);
    f("first_seen", row.first_seen);
    f("last_seen", row.last_seen);
}

template <class F>
void fields(PromptRow& row, F&& f) {
    f("instance_id", row.instance_id);
    f("tenant_id", row.tenant_id);
    f("prompt_kind", row.prompt_kind);
    f("message_id", row.message_id);
    f("option_ids", row.option_ids);
    f("option_labels", row.option_labels);
    f("answered_by", row.answered_by);
}

template <class F>
void fields(MediaRow& row, F&& f) {
    f("tenant_id", row.tenant_id);
    f("instance_id", row.instance_id);
    f("content_type", row.content_type);
    f("filename", row.filename);
    f("bytes", row.bytes);
}

template <class F>
void fields(SessionRow& row, F&& f) {
    f("instance_id", row.instance_id);
    f("chat_id", row.chat_id);
}

template <class F>
void fields(CursorRow& row, F&& f) {
    f("cursor", row.cursor);
}

template <class F>
void fields(AttemptRow& row, F&& f) {
    f("count", row.count);
    f("ends_at", row.ends_at);
}

template <class F>
void fields(NapRow& row, F&& f) {
    f("since", row.since);
    f("next_at", row.next_at);
    f("poked_at", row.poked_at);
    f("epoch", row.epoch);
    f("cooldown_microseconds", row.cooldown_microseconds);
    f("is_given_up", row.is_given_up);
}

template <class F>
void fields(ShedRow& row, F&& f) {
    f("since", row.since);
    f("told_at", row.told_at);
    f("laid_aside", row.laid_aside);
    f("dropped", row.dropped);
    f("untold_laid_aside", row.untold_laid_aside);
    f("untold_dropped", row.untold_dropped);
    f("first", row.first);
    f("last", row.last);
    f("digest", row.digest);
}

template <class F>
void fields(AlertRow& row, F&& f) {
    f("tenant_id", row.tenant_id);
    f("event", row.event);
    f("is_failure", row.is_failure);
    f("instance_id", row.instance_id);
    f("bot", row.bot);
    f("record", row.record);
    f("hash", row.hash);
    f("count", row.count);
}

template <class F>
void fields(NumberRow& row, F&& f) {
    f("reserved", row.reserved);
}

}  // namespace

std::string row_key(std::initializer_list<std::string_view> parts) {
    std::string key;
    bool is_first = true;
    for (const std::string_view part : parts) {
        if (!is_first) {
            key += '/';
        }
        is_first = false;
        append_escaped(key, part);
    }
    return key;
}

template <class Row>
std::string encode_row(const Row& row) {
    RowWriter writer;
    fields(const_cast<Row&>(row), writer);  // The listing is shared with the reader.
    return to_text(writer.take());
}

template <class Row>
Result<Row> decode_row(std::string_view json_text) {
    TRY_ASSIGN(const Json json, parse_json(json_text));
    Row row;
    RowReader reader(json);
    fields(row, reader);
    if (!reader.ok()) {
        return fail(
            errors::corrupt_data,
            "a stored row of kind " + std::string(Row::kKind) + " is malformed");
    }
    return row;
}

#define INTERLOCK_RELAY_ROW(Row)                 \
    template std::string encode_row(const Row&); \
    template Result<Row> decode_row(std::string_view)
INTERLOCK_RELAY_ROW(GatewayRow);
INTERLOCK_RELAY_ROW(DeliveryKeyRow);
INTERLOCK_RELAY_ROW(InstanceRow);
INTERLOCK_RELAY_ROW(RouteRow);
INTERLOCK_RELAY_ROW(BindingRow);
INTERLOCK_RELAY_ROW(DmDefaultRow);
INTERLOCK_RELAY_ROW(ScopeRow);
INTERLOCK_RELAY_ROW(ChatRow);
INTERLOCK_RELAY_ROW(SentRow);
INTERLOCK_RELAY_ROW(EnrollmentRow);
INTERLOCK_RELAY_ROW(TenantTokenRow);
INTERLOCK_RELAY_ROW(LinkCodeRow);
INTERLOCK_RELAY_ROW(CapabilityRow);
INTERLOCK_RELAY_ROW(OutboundRow);
INTERLOCK_RELAY_ROW(OutboundKeyRow);
INTERLOCK_RELAY_ROW(PromptRow);
INTERLOCK_RELAY_ROW(MediaRow);
INTERLOCK_RELAY_ROW(SessionRow);
INTERLOCK_RELAY_ROW(StrangerRow);
INTERLOCK_RELAY_ROW(CursorRow);
INTERLOCK_RELAY_ROW(AttemptRow);
INTERLOCK_RELAY_ROW(NapRow);
INTERLOCK_RELAY_ROW(ShedRow);
INTERLOCK_RELAY_ROW(AlertRow);
INTERLOCK_RELAY_ROW(NumberRow);

}  // namespace interlock
