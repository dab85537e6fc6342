"""Moves the tree: git mv, then every include and every path in a text. Run in ROOT after edits.py."""
import os,re,subprocess,sys
ROOT=os.environ.get("ROOT",os.getcwd()); os.environ["ROOT"]=ROOT
sys.path.insert(0,os.path.dirname(os.path.abspath(__file__)))
import plan
os.chdir(ROOT)
def git(*a): subprocess.run(["git",*a],check=True)
PLACE=plan.PLACE
for old,new in PLACE.items():
    if new is None:
        git("rm","-q","-f",old); continue
    if old!=new:
        os.makedirs(os.path.dirname(new),exist_ok=True); git("mv",old,new)
for f in subprocess.run(["git","ls-files","src"],capture_output=True,text=True).stdout.split():
    if f.endswith("CMakeLists.txt") and f!="src/CMakeLists.txt": git("rm","-q","-f",f)
inc={o[4:]:n[4:] for o,n in PLACE.items() if n and o!=n}
# every path as a word: with and without extension
stems={}
for o,n in inc.items():
    a,b=os.path.splitext(o)[0],os.path.splitext(n)[0]
    stems[a]=b
names=sorted({**stems,**inc},key=len,reverse=True)
table={**stems,**inc}
pattern=re.compile(r'(?<![\w/-])((?:src/|\.\./src/|\.\./)?)('+"|".join(re.escape(x) for x in names)+r')(?![\w/])')
def repl(m): return m.group(1)+table[m.group(2)]
DIRS=[ # folders in texts, longest first
 ("services/loop/","loop/service/"),("services/relay/","relay/service/"),("services/strategy/","trader/service/"),("services/control/","trader/service/"),("services/supervisor/","trader/service/"),("services/bot/","bots/service/"),("services/onboarding/","bots/service/"),("services/pnl/","bots/service/"),("services/vault/","host/service/"),("services/notices/","host/service/"),
 ("core/gates/","loop/rules/gates/"),("core/dry_run/","loop/rules/dry_run/"),("core/strategy/","trader/rules/strategies/"),("core/relay/","relay/rules/"),("core/kill/","host/rules/"),("core/matching/","market/rules/matching/"),("core/account/","account/rules/"),("core/treasury/","account/rules/"),
 ("contracts/relay/","relay/wire/"),("contracts/bot/","bots/wire/"),("contracts/loop/","loop/wire/"),
 ("adapters/discord/","relay/platforms/discord/"),("adapters/telegram/","relay/platforms/telegram/"),("adapters/twilio/","relay/platforms/sms/"),("adapters/wecom/","relay/platforms/wecom/"),("adapters/console/","relay/platforms/console/"),("adapters/chat/","relay/platforms/common/"),("adapters/sqlite/","engine/sqlite/"),("adapters/memory/","engine/memory/"),("adapters/system/","engine/system/"),("adapters/paper/","venues/paper/"),("adapters/mail/","host/mail/"),("adapters/witness/","host/witness/"),("adapters/sink/","engine/sink/"),
 ("api/mcp/","app/mcp/"),("api/relay/","relay/face/"),("api/pages/","app/pages/"),("api/http/","host/face/"),
]
dirpat=re.compile(r'(?<![\w/.-])((?:src/|\.\./src/|\.\./)?)('+"|".join(re.escape(a) for a,_ in DIRS)+r')')
dirs=dict(DIRS)
skip=("conformance/vectors","LICENSE","docs/adr/")
for f in subprocess.run(["git","ls-files"],capture_output=True,text=True).stdout.split():
    if f.startswith(skip) or not os.path.isfile(f) or os.path.islink(f): continue
    try: s=open(f).read()
    except UnicodeDecodeError: continue
    t=pattern.sub(repl,s)
    if not f.endswith((".h",".cc")) or True: t=dirpat.sub(lambda m:m.group(1)+dirs[m.group(2)],t)
    if s!=t: open(f,"w").write(t)
git("add","-A")
