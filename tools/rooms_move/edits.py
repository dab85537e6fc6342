import re,subprocess,os,sys
os.chdir(os.environ.get("ROOT",os.getcwd()))
def rd(p): return open(p).read()
def wr(p,s): open(p,"w").write(s)
def sub(p,a,b):
    s=rd(p); assert a in s,(p,a); wr(p,s.replace(a,b))
def git(*a): subprocess.run(["git",*a],check=True)
def sources(): return [f for f in subprocess.run(["git","ls-files"],capture_output=True,text=True).stdout.split() if f.endswith((".h",".cc"))]

# E2 the refusal of a market is the market's, not the signup's.
s=rd("src/contracts/bot/signup.h")
i=s.index("inline constexpr ErrorKind asset_not_allowed{"); j=s.index("}  // namespace errors",i)
kind=s[i:j]; wr("src/contracts/bot/signup.h",s[:i]+s[j:])
h=rd("src/contracts/market/symbol.h")
assert "namespace errors" not in h
h=h.replace("namespace interlock {\n","namespace interlock {\n\nnamespace errors {\n"+kind+"}  // namespace errors\n",1)
if '#include "base/result.h"' not in h:
    print("symbol.h includes:",re.findall(r'#include.*',h))
wr("src/contracts/market/symbol.h",h)
s=rd("src/core/control/control_step.cc"); wr("src/core/control/control_step.cc",s.replace('#include "contracts/bot/signup.h"\n',''))

# E4 when a letter is tried again is nothing of bots.
s=rd("src/core/bot/account_policy.h")
a=s.index("// A letter that could not be sent"); b=s.index("// Whether this caller's changes")
part=s[a:b].strip()+"\n"
wr("src/core/bot/account_policy.h",s[:a]+s[b:].replace("x","x"))
sub("src/core/bot/account_policy.h","// What an owner allows an agent, and when an activation letter is tried again, as pure functions.","// What an owner allows an agent, as pure functions.")
c=rd("src/core/bot/account_policy.cc")
a=c.index("namespace {"); b=c.index("bool must_propose")
mid=c[a:b]; wr("src/core/bot/account_policy.cc",c[:a]+c[b:])
wr("src/core/notices/letter_retry.h","// When a letter that people wait for is tried again.\n#pragma once\n\n#include <cstdint>\n\n#include \"base/time.h\"\n\nnamespace interlock {\n\n"+part+"\n}  // namespace interlock\n")
wr("src/core/notices/letter_retry.cc","#include \"core/notices/letter_retry.h\"\n\n#include <algorithm>\n\nnamespace interlock {\n"+mid.rstrip()+"\n\n}  // namespace interlock\n")
s=rd("src/services/recovery_letters.cc"); wr("src/services/recovery_letters.cc",s.replace("core/bot/account_policy.h","core/notices/letter_retry.h"))
for f in ("src/services/onboarding/onboarding_mail.cc","src/services/onboarding/onboarding_mail_test.cc"):
    s=rd(f); k=s.index("#include \"services") if "#include \"services" in s and "_test" not in f else s.index("#include \"testing"); wr(f,s[:k]+"#include \"core/notices/letter_retry.h\"\n"+s[k:]); continue
    s=rd(f); k=s.index('#include "c'); wr(f,s[:k]+'#include "core/notices/letter_retry.h"\n'+s[k:])

# E5 two key policies must not share a name.
for e in (".h",".cc","_test.cc"): git("mv","src/core/bot/key_policy"+e,"src/core/bot/exchange_key_policy"+e)
for f in sources():
    if os.path.exists(f):
        s=rd(f); t=s.replace("core/bot/key_policy.h","core/bot/exchange_key_policy.h")
        if s!=t: wr(f,t)

# E6 each room says its own part of why nothing trades.
h=rd("src/core/kill/trading_state.h"); c=rd("src/core/kill/trading_state.cc"); t=rd("src/core/kill/trading_state_test.cc")
def cut(text,start,end): i=text.index(start); return text[i:text.index(end,i)]
order="""//     store failed > stopped for all > stopped here > disabled for all > disabled here
//         > of the account > of the market > of the strategy's amounts
"""
wr("src/core/kill/why_stopped.h","""// Whether anything of a tenant may trade, and if not, why. Pure; every display asks this function and
// its two sisters, why_account_blocked and why_market_blocked, so that no two displays disagree. One
// reason goes out, the strongest first:
//
"""+order+"""#pragma once

#include <optional>
#include <string>

#include "contracts/kill/blocked.h"
#include "core/kill/kill_step.h"

namespace interlock {

"""+cut(h,"struct StopFacts","// What of the account").rstrip()+"\n\n}  // namespace interlock\n")
wr("src/core/kill/why_stopped.cc",'#include "core/kill/why_stopped.h"\n\nnamespace interlock {\n\n'+cut(c,"std::optional<Blocked> why_stopped","std::optional<Blocked> why_account_blocked").rstrip()+"\n\n}  // namespace interlock\n")
wr("src/core/kill/why_account_blocked.h","""// What of an account keeps it from trading, or from entering anew. Pure; weaker than why_stopped.
#pragma once

#include <optional>

#include "contracts/kill/blocked.h"
#include "core/account/account.h"

namespace interlock {

std::optional<Blocked> why_account_blocked(const Account& account);

}  // namespace interlock
""")
first=cut(c,"std::string first_of","std::string joined").rstrip()
join=cut(c,"std::string joined","}  // namespace\n").rstrip()
wr("src/core/kill/why_account_blocked.cc",'#include "core/kill/why_account_blocked.h"\n\nnamespace interlock {\nnamespace {\n\n'+first+"\n\n}  // namespace\n\n"+cut(c,"std::optional<Blocked> why_account_blocked","std::optional<Blocked> why_market_blocked").rstrip()+"\n\n}  // namespace interlock\n")
wr("src/core/kill/why_market_blocked.h","""// What keeps a strategy from trading on its market, its account aside, and what passes in spite of a
// block. Pure; weaker than why_stopped and why_account_blocked.
#pragma once

#include <optional>

#include "contracts/kill/blocked.h"
#include "contracts/strategy/strategy_instance.h"
#include "core/strategy/strategy.h"

namespace interlock {

"""+h[h.index("// What keeps a strategy that is active"):])
wr("src/core/kill/why_market_blocked.cc",'#include "core/kill/why_market_blocked.h"\n\nnamespace interlock {\nnamespace {\n\n'+join+"\n\n}  // namespace\n\n"+c[c.index("std::optional<Blocked> why_market_blocked"):])
s=rd("src/contracts/kill/blocked.h")
s=s.replace("// Null: it trades.\n","// The sentence with its cause, when there is one: \"The kill switch is on: smoke\".\nstd::string because(std::string sentence, const std::string& cause);\n// Null: it trades.\n",1); wr("src/contracts/kill/blocked.h",s)
s=rd("src/contracts/kill/blocked.cc")
s=s.replace("Json encode(const std::optional<Blocked>& blocked) {",'''std::string because(std::string sentence, const std::string& cause) {
    return cause.empty() ? sentence + "." : sentence + ": " + cause;
}

Json encode(const std::optional<Blocked>& blocked) {''',1); wr("src/contracts/kill/blocked.cc",s)
# tests
codeof=cut(t,"std::string code_of","KillState switched").rstrip()
switched=cut(t,"KillState switched","TEST(").rstrip()
stop=cut(t,"TEST(TradingState, TellsTheStrongest","TEST(TradingState, AnAccountHas").rstrip()
acct=cut(t,"TEST(TradingState, AnAccountHas","TEST(TradingState, AMarketHas").rstrip()
mark=cut(t,"TEST(TradingState, AMarketHas","// There is no command").rstrip()
lets=cut(t,"// What gate 5","}  // namespace\n").rstrip()
def test(name,inc,body): wr(f"src/core/kill/{name}_test.cc",f'#include "core/kill/{name}.h"\n\n#include <gtest/gtest.h>\n\n{inc}namespace interlock {{\nnamespace {{\n\n{body}\n\n}}  // namespace\n}}  // namespace interlock\n')
test("why_stopped","",codeof+"\n\n"+switched+"\n\n"+stop.replace("TEST(TradingState","TEST(WhyStopped"))
test("why_account_blocked",'#include "contracts/loop/risk_limits.h"\n\n' if False else "",codeof+"\n\n"+acct.replace("TEST(TradingState","TEST(WhyAccountBlocked")+'''

// There is no command and no button for it; what is said can be called as it is written.
TEST(WhyAccountBlocked, WhatIsToBeDoneNamesARouteThatThereIs) {
    Account account;
    account.key = {TenantId::trusted("demo"), default_account_id(), TradeMode::paper};
    account.trading_enabled = true;
    account.tier.tier = Tier::stop;
    EXPECT_NE(
        why_account_blocked(account)->next.find("`POST /api/demo/recovery/reset_drawdown`"),
        std::string::npos);
}''')
test("why_market_blocked","",codeof+"\n\n"+mark.replace("TEST(TradingState","TEST(WhyMarketBlocked")+'''

// There is no command and no button for it; what is said can be called as it is written.
TEST(WhyMarketBlocked, WhatIsToBeDoneNamesARouteThatThereIs) {
    Concern concern;
    concern.account = {TenantId::trusted("demo"), AccountId::trusted("main"), TradeMode::paper};
    EXPECT_NE(
        why_market_blocked({.concern = concern, .is_throttled = true})
            ->next.find("`POST /api/demo/strategies/enable`"),
        std::string::npos);
}

'''+lets.replace("TEST(TradingState","TEST(WhyMarketBlocked"))
git("add","-A","src/core/kill","src/core/notices")
git("rm","-q","-f","src/core/kill/trading_state.h","src/core/kill/trading_state.cc","src/core/kill/trading_state_test.cc")
sub("src/services/kill_switch_service.h","core/kill/trading_state.h","core/kill/why_stopped.h")

# the account that a call means when it names none is an account's word, not the loop's.
s=rd("src/contracts/loop/loop_tools.h")
i=s.index("AccountId default_account_id();"); k=s.rfind("\n\n",0,i)
block=s[k+2:i+len("AccountId default_account_id();\n")]
print("default_account block:",block)
wr("src/contracts/loop/loop_tools.h",s.replace(block,""))
d="AccountId default_account_id() {\n    return AccountId::trusted(\"main\");\n}\n\n"
sub("src/contracts/loop/loop_tools.cc",d,"")
h=rd("src/contracts/venue/venue_order.h"); i=h.index("struct VenueAccount {")
i=h.rfind("\n\n",0,i)+2
wr("src/contracts/venue/venue_order.h",h[:i]+block.strip()+"\n\n"+h[i:])
c=rd("src/contracts/venue/venue_order.cc")
k=c.index("}  // namespace\n")+len("}  // namespace\n\n") if "}  // namespace\n" in c else c.index("namespace interlock {\n")+len("namespace interlock {\n\n")
wr("src/contracts/venue/venue_order.cc",c[:k]+d+c[k:])
for f in sources():
    if not os.path.exists(f): continue
    s=rd(f)
    if "default_account_id" in s and "contracts/venue/venue_order.h" not in s and not f.endswith("venue_order.h") and "contracts/loop/loop_tools.h" in s and f not in():
        wr(f,s.replace('#include "contracts/loop/loop_tools.h"\n','#include "contracts/loop/loop_tools.h"\n#include "contracts/venue/venue_order.h"\n'))

# E7 what keeps instances of its own says through an interface of the trader whether they run.
s=rd("src/services/strategy/strategy_ticker.h")
a=s.index("// Who keeps instances of its own"); b=s.index("class StrategyTicker {")
s=s[:a]+s[b:]
s=s.replace('''    // Before the engine starts; it outlives every turn.
    void set_keeper(const StrategyKeeper& keeper) { keeper_ = &keeper; }

''','').replace("    Parts parts_;\n    const StrategyKeeper* keeper_ = nullptr;\n","    Parts parts_;\n")
wr("src/services/strategy/strategy_ticker.h",s)
wr("src/services/strategy/strategy_keeper.h",'''// Who keeps instances of its own (the maker bots do) and knows what the trader cannot: whether they
// tick, and what holds them up besides their market. Declared here and implemented above, so that
// the trader calls nobody who calls it.
#pragma once

#include <optional>

#include "base/result.h"
#include "contracts/kill/blocked.h"
#include "contracts/strategy/strategy_instance.h"
#include "services/turn.h"

namespace interlock {

class StrategyKeeper {
public:
    virtual ~StrategyKeeper() = default;
    // Any thread. Nothing of instances that it does not keep.
    virtual std::optional<Blocked> why_held_up(const StrategyInstance& instance) const = 0;
    // Whether the instances that it keeps on this account tick, as staged in this turn.
    virtual Result<bool> is_ticking(Turn& turn, const VenueAccount& account) const = 0;
};

}  // namespace interlock
''')
git("add","src/services/strategy/strategy_keeper.h")
s=rd("src/services/strategy/strategy_ticker.cc")
s=s.replace("keeper_ != nullptr","parts_.runtime.keeper() != nullptr").replace("keeper_->why_held_up","parts_.runtime.keeper()->why_held_up").replace("settle_blocks(turn, batch.account)","settle_blocks(turn, batch.account, parts_.runtime.keeper())").replace("settle_blocks(t, account)","settle_blocks(t, account, parts_.runtime.keeper())")
wr("src/services/strategy/strategy_ticker.cc",s)
s=rd("src/services/strategy/strategy_runtime.h")
s=s.replace('#include "services/strategy/strategy_store.h"\n','#include "services/strategy/strategy_keeper.h"\n#include "services/strategy/strategy_store.h"\n')
s=s.replace('''    explicit StrategyRuntime(Opener opener = open_strategy) : opener_(std::move(opener)) {}
''','''    explicit StrategyRuntime(Opener opener = open_strategy) : opener_(std::move(opener)) {}

    // Before the engine starts; it outlives every turn.
    void set_keeper(const StrategyKeeper& keeper) { keeper_ = &keeper; }
    // Null when nobody keeps instances.
    const StrategyKeeper* keeper() const { return keeper_; }
''').replace("    Opener opener_;\n    mutable","    Opener opener_;\n    const StrategyKeeper* keeper_ = nullptr;\n    mutable")
wr("src/services/strategy/strategy_runtime.h",s)
for f in ("src/services/strategy/strategy_runtime.cc","src/services/strategy/strategy_service.cc"):
    s=rd(f).replace('#include "core/bot/bot_record.h"\n',"").replace("is_bot_strategy(","is_kept_strategy("); wr(f,s)
s=rd("src/services/strategy/strategy_store.cc").replace('#include "core/bot/bot_record.h"\n',"")
a=s.index("// Whether somebody looks at the instance now and then"); b=s.index("std::string list_key(")
s=s[:a]+'''// Whether somebody looks at the instance now and then; a kept one by its keeper alone.
Result<bool> ticks_now(
    Turn& turn,
    const StrategyInstance* instance,
    const VenueAccount& account,
    const StrategyKeeper* keeper) {
    if (instance == nullptr || instance->account != account || instance->paused ||
        instance->is_latched || instance->mode == InstanceMode::off) {
        return false;
    }
    if (!is_kept_strategy(instance->strategy_id)) {
        return true;
    }
    return keeper == nullptr ? Result<bool>(false) : keeper->is_ticking(turn, account);
}

'''+s[b:]
s=s.replace("Result<void> settle_blocks(Turn& turn, const VenueAccount& account) {","Result<void> settle_blocks(\n    Turn& turn, const VenueAccount& account, const StrategyKeeper* keeper) {")
s=s.replace("ticks_now(turn, instance.get(), account)","ticks_now(turn, instance.get(), account, keeper)").replace("ticks_now(turn, one.get(), account)","ticks_now(turn, one.get(), account, keeper)")
wr("src/services/strategy/strategy_store.cc",s)
s=rd("src/services/strategy/strategy_store.h")
s=s.replace("Result<void> settle_blocks(Turn& turn, const VenueAccount& account);","// Without a keeper no kept instance ticks.\nResult<void> settle_blocks(\n    Turn& turn, const VenueAccount& account, const StrategyKeeper* keeper);")
i=s.index('#include "services/'); s=s[:i]+'#include "services/strategy/strategy_keeper.h"\n'+s[i:]
wr("src/services/strategy/strategy_store.h",s)
for f,x in (("src/services/control/control_apply.cc","account"),("src/services/control/control_switch.cc","concern.account"),("src/services/strategy/strategy_service.cc","saved->account")):
    sub(f,f"settle_blocks(turn, {x})",f"settle_blocks(turn, {x}, parts_.runtime.keeper())")
sub("src/services/bot/bot_markets.cc","settle_blocks(turn, account)","settle_blocks(turn, account, this)")
sub("src/services/bot/bot_service.cc","settle_blocks(turn, bot_account_of(turn.tenant_id()))","settle_blocks(turn, bot_account_of(turn.tenant_id()), this)")
sub("src/services/bot/bot_service.cc","parts_.ticker.set_keeper(*this)","parts_.runtime.set_keeper(*this)")
sub("src/services/bot/bot_service.h","    std::optional<Blocked> why_held_up(const StrategyInstance& instance) const override;","    std::optional<Blocked> why_held_up(const StrategyInstance& instance) const override;\n    Result<bool> is_ticking(Turn& turn, const VenueAccount& account) const override;")
s=rd("src/services/bot/bot_reads.cc")
s=s.replace("std::optional<Blocked> BotService::why_blocked(",'''Result<bool> BotService::is_ticking(Turn& turn, const VenueAccount& account) const {
    TRY_ASSIGN(
        const auto bot, turn.load_as<BotRecord>(bot_machine(account.tenant_id), decode_bot_record));
    return bot && bot->state == BotState::running;
}

std::optional<Blocked> BotService::why_blocked(''',1); wr("src/services/bot/bot_reads.cc",s)
s=rd("src/core/bot/bot_record.h")
s=s.replace('''// Strategies that a bot keeps. Nobody else's has a name like this: others are numbered by us.
inline constexpr std::string_view kBotStrategyPrefix = "bot.";
''','').replace("bool is_bot_strategy(const StrategyId& id);\n",""); wr("src/core/bot/bot_record.h",s)
s=rd("src/core/bot/bot_record.cc")
a=s.index("bool is_bot_strategy"); b=s.index("std::string bot_machine"); s=(s[:a]+s[b:]).replace("kBotStrategyPrefix","kKeptStrategyPrefix"); wr("src/core/bot/bot_record.cc",s)
for f in sources():
    if os.path.exists(f):
        s=rd(f)
        t=s.replace("is_bot_strategy(","is_kept_strategy(").replace("kBotStrategyPrefix","kKeptStrategyPrefix")
        if s!=t: wr(f,t)
h=rd("src/contracts/strategy/strategy_instance.h")
i=h.index("struct StrategyInstance {"); i=h.rfind("\n\n",0,i)+2
h=h[:i]+'''// Instances that a keeper keeps (services/strategy/strategy_keeper.h). Nobody else's has a name like
// this: others are numbered by us.
inline constexpr std::string_view kKeptStrategyPrefix = "bot.";
bool is_kept_strategy(const StrategyId& id);

'''+h[i:]; wr("src/contracts/strategy/strategy_instance.h",h)
c=rd("src/contracts/strategy/strategy_instance.cc")
k=c.index("}  // namespace\n")+len("}  // namespace\n\n") if "}  // namespace\n" in c else c.index("namespace interlock {\n")+len("namespace interlock {\n\n")
wr("src/contracts/strategy/strategy_instance.cc",c[:k]+'bool is_kept_strategy(const StrategyId& id) {\n    return id.text().starts_with(kKeptStrategyPrefix);\n}\n\n'+c[k:])

# E8 the page for what is not there is handed to the face.
s=rd("src/api/http/http_face.cc").replace('#include "api/http/page_operations.h"\n',"")
s=s.replace("wants_page(request) ? lost_page(routed.error().http_status()) : problem(routed.error());","parts_.lost_page != nullptr && wants_page(request)\n                ? parts_.lost_page(routed.error().http_status())\n                : problem(routed.error());")
wants=cut(rd("src/api/http/page_operations.cc"),"bool wants_page","HttpResponse lost_page")
k=s.index("namespace {\n")+len("namespace {\n\n"); s=s[:k]+"// Whether a browser asks, which shows pages and no JSON.\n"+wants+s[k:]
wr("src/api/http/http_face.cc",s)
s=rd("src/api/http/page_operations.cc"); wr("src/api/http/page_operations.cc",s.replace(wants,""))
s=rd("src/api/http/page_operations.h"); print(s)
sub("src/api/http/http_face.h","        std::function<void(HttpRequest, Principal, HttpResponderPtr)> mcp;\n","        std::function<void(HttpRequest, Principal, HttpResponderPtr)> mcp;\n        // What a browser is shown where there is no page; null: the problem as JSON.\n        HttpResponse (*lost_page)(int status) = nullptr;\n")
sub("src/api/http/page_operations.h","// Whether a person's browser wants to show the answer, and not a program to read it.\nbool wants_page(const HttpRequest& request);\n","")
sub("src/bin/server.cc","mcp->handle(std::move(request), std::move(principal), std::move(responder));\n                }},\n        http_face_config(config));","mcp->handle(std::move(request), std::move(principal), std::move(responder));\n                },\n            .lost_page = lost_page},\n        http_face_config(config));")
sub("src/api/http/page_operations_test.cc",".mcp = {}},",".mcp = {},\n             .lost_page = lost_page},")
s=rd("src/bin/server.cc")
if "api/http/page_operations.h" not in s: print("server.cc needs page_operations.h")
s=rd("src/core/bot/bot_record.cc")
if "contracts/strategy/strategy_instance.h" not in s:
    k=s.index("\nnamespace interlock"); k2=s.rfind('#include "',0,k)
    wr("src/core/bot/bot_record.cc",s[:k2]+'#include "contracts/strategy/strategy_instance.h"\n'+s[k2:])
def add_include(f,header):
    s=rd(f)
    if f'#include "{header}"' in s: return
    own=os.path.splitext(f)[0][4:]+".h"
    lines=s.split("\n")
    at=[i for i,l in enumerate(lines) if l.startswith('#include "') and own not in l]
    i=at[0] if at else [i for i,l in enumerate(lines) if l.startswith("#include")][-1]+1
    lines.insert(i,f'#include "{header}"'); wr(f,"\n".join(lines))
for f in sources():
    if not os.path.exists(f) or f.startswith("src/core/kill/"): continue
    s=rd(f)
    import re as _r
    if f.endswith(".cc"):
        if _r.search(r"(?<![.\w>])why_account_blocked\(|interlock::why_account_blocked",s) and "::why_account_blocked(const VenueAccount" not in s.replace("interlock::",""): pass
        if "why_account_blocked(" in s and f.startswith(("src/services/loop","src/services/strategy")): add_include(f,"core/kill/why_account_blocked.h")
        if _r.search(r"(?<![.\w>:])why_market_blocked\(|(?<![.\w>:])lets_through\(|MarketWord",s): add_include(f,"core/kill/why_market_blocked.h")
        if _r.search(r"is_kept_strategy\(|kKeptStrategyPrefix",s) and not f.startswith("src/contracts"): add_include(f,"contracts/strategy/strategy_instance.h")
