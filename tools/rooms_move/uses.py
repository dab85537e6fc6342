# which (room,part) includes which (room,part)
import re,subprocess,os
from collections import defaultdict
os.chdir(os.environ.get("ROOT",os.getcwd()))
PARTS={"engine":["files","memory","sqlite","sink"],"host":["files","memory","mail","webhook","witness"],"relay":["sqlite","memory","files","wake","platforms/common","platforms/console","platforms/discord","platforms/telegram","platforms/sms","platforms/wecom"],"venues":["paper","shadow"],"trader":["backtest"],"bots":["files"],"app":["plane","face","mcp","wiring","command","demo"]}
def part(p): # path below src
    ps=p.split("/"); r=ps[0]
    if r in("base","codec","net"): return r
    for x in PARTS.get(r,[]):
        if p.startswith(f"{r}/{x}/"): return f"{r}_{x.replace('/','_')}".replace("platforms_","")
    if ps[1] in("wire","rules"): return r+"_pure"
    return r
use=defaultdict(set); tuse=defaultdict(set)
ext=defaultdict(set)
for f in subprocess.run(["git","ls-files","src","sim","bench","conformance","testing","fuzz"],capture_output=True,text=True).stdout.split():
    if not f.endswith((".h",".cc")): continue
    if f.startswith("src/"): a=part(f[4:])
    else: a=f.split("/")[0]
    for l in open(f):
        m=re.match(r'#include "([^"]+)"',l)
        if m and os.path.exists("src/"+m.group(1)):
            b=part(m.group(1))
            if a!=b: (tuse if "_test." in f or "/test_" in f else use)[a].add(b)
        m=re.match(r'#include <((?:boost|openssl|sodium|sqlite3|curl|spdlog|fmt|toml|CLI|prometheus|thread|mutex|condition)[^>]*)>',l)
        if m and "_test" not in f: ext[a].add(m.group(1).split("/")[0])
for k in sorted(use): print(k,"->",*sorted(use[k]),"| ext",*sorted(ext[k]))
print()
for k in sorted(tuse): print("TEST",k,"->",*sorted(tuse[k]-use[k]))
