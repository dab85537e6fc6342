"""Maps every file of src/ to its place in the second plan. plan(path) -> new path."""
import re,subprocess,sys,os
ROOT=os.environ.get("ROOT",os.getcwd())
RULES=[ # regex on path below src/ -> replacement folder (file name stays); first match wins
 (r"base/(field_reader|json_list)[^/]*$", "codec"),
 (r"contracts/(canonical_writer|json_schema|error_json)[^/]*$", "codec"),
 (r"base/", "base"),
 (r"net/", "net"),
 # engine
 (r"contracts/(ids\.|audit/|probe/)", "engine/wire"),
 (r"contracts/principal/principal[._]", "engine/wire"),
 (r"contracts/notices/notice[._]c?c?h?", "engine/wire") if False else (r"contracts/notices/notice(_test)?\.", "engine/wire"),
 (r"core/ledger/", "engine/rules"),
 (r"core/notices/notice_rules", "engine/rules"),
 (r"ports/(clock|effect_sink|head_log|head_mirror|id_source|ledger_store|seal_keys|segment_source|kill_flag|witness|forwarding_store)", "engine/ports"),
 (r"services/(turn|outbox_runner|kill_latch|worker_pool|lane_probe|fold_service|chain_check|chain_vouchers|archive_read|ledger_export|export_header|ledger_check|detached_checkpoint|moved_heads|unsealed_chains|head_proofs|witnessed_heads)", "engine/service"),
 (r"adapters/sqlite/(sqlite_relay|relay_|buffer_places)", "relay/sqlite"),
 (r"adapters/sqlite/", "engine/sqlite"),
 (r"adapters/memory/(memory_relay|memory_media|local_relay)", "relay/memory"),
 (r"adapters/memory/held_master", "host/memory"),
 (r"adapters/memory/", "engine/memory"),
 (r"adapters/system/file_media", "relay/files"),
 (r"adapters/system/file_pnl", "bots/files"),
 (r"adapters/system/file_master", "host/files"),
 (r"adapters/system/", "engine/system"),
 (r"adapters/sink/", "engine/sink"),
 (r"adapters/witness/", "host/witness"),
 # host
 (r"adapters/mail/", "host/mail"),
 (r"adapters/webhook/", "host/webhook"),
 (r"adapters/wake/", "relay/wake"),
 (r"services/restore_service", "app/plane"),
 (r"contracts/bot/(vault_row|exchange_keys|call_key)", "host/wire"),
 (r"core/bot/exchange_key_policy", "host/rules"),
 (r"contracts/(approval|kill|principal|mail|notices)/", "host/wire"),
 (r"core/kill/why_account_blocked", "account/rules"),
 (r"core/kill/why_market_blocked", "trader/rules"),
 (r"core/(access|approval|principal|backup|notices|kill)/", "host/rules"),
 (r"ports/(mailer|master_keys|key_check|webhook_caller)", "host/ports"),
 (r"services/vault/", "host/service"),
 # market
 (r"contracts/market/", "market/wire"),
 (r"core/(market|indicators)/", "market/rules"),
 (r"core/matching/", "market/rules/matching"),
 # account
 (r"contracts/venue/", "account/wire"),
 (r"contracts/loop/(risk_limits|state_facts|intent|facts_text)", "account/wire"),
 (r"core/(treasury|account)/", "account/rules"),
 (r"core/order/order_form", "account/rules"),
 (r"core/order/", "loop/rules"),
 (r"ports/(venue|venue_history)", "account/ports"),
 # venues
 (r"adapters/paper/backtest", "trader/backtest"),
 (r"adapters/paper/shadow", "venues/shadow"),
 (r"adapters/paper/", "venues/paper"),
 # loop
 (r"contracts/loop/", "loop/wire"),
 (r"core/gates/", "loop/rules/gates"),
 (r"core/dry_run/", "loop/rules/dry_run"),
 (r"core/replay/", "trader/rules/replay"),
 (r"core/loop/", "loop/rules"),
 (r"services/loop/venue_watch", "app/plane"),
 (r"services/loop/", "loop/service"),
 (r"services/(replay_service|decision_receipt)", "trader/service"),
 # trader
 (r"contracts/(control|strategy)/", "trader/wire"),
 (r"core/strategy/(?=[a-z_]+/)", "trader/rules/strategies"),
 (r"core/(strategy|control)/", "trader/rules"),
 (r"core/supervisor/", "trader/rules/supervisor"),
 (r"services/(strategy|control|supervisor)/", "trader/service"),
 # bots
 (r"contracts/bot/", "bots/wire"),
 (r"core/(bot|pnl)/", "bots/rules"),
 (r"services/(bot|onboarding|pnl)/", "bots/service"),
 (r"ports/pnl_log", "bots/ports"),
 # relay
 (r"contracts/relay/", "relay/wire"),
 (r"core/relay/", "relay/rules"),
 (r"services/relay/", "relay/service"),
 (r"ports/(relay|chat_platform|console_chat|media_folder|wake_caller)", "relay/ports"),
 (r"adapters/chat/", "relay/platforms/common"),
 (r"adapters/(console|discord|telegram|wecom)/", r"relay/platforms/\1"),
 (r"adapters/twilio/", "relay/platforms/sms"),
 (r"api/relay/", "relay/face"),
 # faces
 (r"api/mcp/", "app/mcp"),
 (r"api/(openapi|error_catalog)", "app/face"),
 (r"api/http/(agent_operations|health_operations|page_operations|page_files|metrics_face|backup_operations)", "app/face"),
 (r"api/http/(loop|loop_control|market)_operations", "loop/face"),
 (r"api/http/(strategy|supervisor|control)_operations", "trader/face"),
 (r"api/http/(bot|onboarding)_operations", "bots/face"),
 (r"api/pages/", "app/pages"),
 (r"api/", "host/face"),
 (r"services/plane", "app/plane"),
 (r"ports/ports", None),
 (r"services/", "host/service"),
 # the program
 (r"bin/main\.", "app"),
 (r"bin/demo_", "app/demo"),
 (r"bin/(server|config|.*_setup|.*_host|listeners|ledger_run|relay_config|relay_bots|relay_platform|bot_platform|witness_source|.*_folder|data_path|stop_listener|descriptor_limit|version\.|offline_|quarantine|backup_cut|backup_restore|backup_test|exposure|test_)", "app/wiring"),
 (r"bin/", "app/command"),
]
def place(f):
    p=f[4:]
    for r,n in RULES:
        m=re.match(r,p)
        if m:
            if n is None: return None
            n=m.expand(n)
            if "(?=" in r: return "src/"+n+"/"+p[len("core/strategy/"):]
            return "src/"+n+"/"+p.split("/")[-1]
    raise SystemExit("no place for "+f)
files=[f for f in subprocess.run(["git","ls-files","src"],capture_output=True,text=True,cwd=ROOT).stdout.split() if not f.endswith(("CMakeLists.txt",".md"))]
PLACE={f:place(f) for f in files}
def room(new): return new.split("/")[1]
USES=dict(base=[],codec=["base"],net=["codec"],engine=["codec","net"],host=["engine","net"],market=["host"],account=["market"],venues=["account"],loop=["account"],trader=["loop","venues"],bots=["trader"],relay=["host"],app=["bots","relay","venues"])
def reach(r):
    out=set()
    todo=list(USES[r])
    while todo:
        x=todo.pop()
        if x not in out: out.add(x); todo+=USES[x]
    return out
def part(new):
    ps=new.split("/")
    if ps[1] in("base","codec"): return "pure"
    if ps[2] in("wire","rules"): return "pure"
    return "rest"
if __name__=="__main__":
    from collections import defaultdict,Counter
    seen=Counter(v for v in PLACE.values() if v)
    for v,n in seen.items():
        if n>1: print("COLLISION",v,[k for k,x in PLACE.items() if x==v])
    bad=defaultdict(list); impure=[]
    tests="-t" in sys.argv
    for f,new in PLACE.items():
        if not new or not f.endswith((".h",".cc")): continue
        if not tests and ("_test." in f or "/test_" in f): continue
        for line in open(ROOT+"/"+f):
            m=re.match(r'#include "([^"]+)"',line)
            if not m: continue
            g="src/"+m.group(1)
            if g not in PLACE or not PLACE[g]: continue
            a,b=room(new),room(PLACE[g])
            if a!=b and b not in reach(a): bad[(a,b)].append((f,g))
            elif part(new)=="pure" and part(PLACE[g])!="pure" and "test" not in f: impure.append((f,g))
    for k,v in sorted(bad.items(),key=lambda x:-len(x[1])):
        print(k,len(v))
        for x in v: print("    ",*x)
    print("IMPURE",*impure,sep="\n   ")
    c=Counter(); d=Counter()
    for f,new in PLACE.items():
        if not new or "_test." in f or "/test_" in f or not f.endswith((".h",".cc")): continue
        n=len(open(ROOT+"/"+f).readlines()); c[room(new)]+=n; d["/".join(new.split("/")[1:-1])]+=n
    print(c); print(sorted(d.items()))
