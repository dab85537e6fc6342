"""Two owners on a real server: refusals for the other one's tenant, keys and ids against those for what
does not exist. Status, headers and body are the same bytes; how long they take cannot be told apart by a
rank test over interleaved samples. The same test does tell an answer from a refusal, so it would notice.
"""

import json
import math
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))

import plane

SAMPLES = 300  # Of each of the two, per question.
# A leak is both: ranks that differ far beyond chance, and a difference that could be measured from
# outside. Either alone happens on a busy machine.
SCORE_MAX = 6.0
SHARE_MAX = 0.10


def ask(connection, method, path, body=None, key=None):
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["X-Access-Key"] = key
    begin = time.perf_counter()
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    text = response.read()
    took = time.perf_counter() - begin
    seen = sorted((name, value) for name, value in response.getheaders() if name.lower() != "date")
    return took, (response.status, seen, text)


def sign_up(connection, name):
    body = {"email": f"{name}@example.com", "plan": "standard", "agent_metadata": None}
    account = json.loads(ask(connection, "POST", "/signup", body)[1][2])
    tenant, key = account["tenant_id"], account["access_key"]
    keys = {"exchange": "paper", "api_key": "k", "api_secret": "s"}
    for path, body in (("/update_exchange_keys", keys), ("/initialize_bot", None), ("/start", None)):
        answer = ask(connection, "POST", f"/api/{tenant}{path}", body, key)[1]
        assert answer[0] == 200, (path, answer)
    proposal = json.loads(
        ask(connection, "POST", f"/api/{tenant}/update_pnl", {"pnl_perc": 2}, key)[1][2])
    return {"tenant": tenant, "key": key, "key_id": account["key_id"],
            "approval": proposal["proposal_id"]}


def rank_score(first, second):
    """The normal score of the Mann-Whitney U test; ties share their rank."""
    both = sorted([(value, 0) for value in first] + [(value, 1) for value in second])
    ranks = 0.0
    at = 0
    while at < len(both):
        end = at
        while end < len(both) and both[end][0] == both[at][0]:
            end += 1
        shared = (at + 1 + end) / 2
        ranks += shared * sum(1 for _, side in both[at:end] if side == 0)
        at = end
    n, m = len(first), len(second)
    u = ranks - n * (n + 1) / 2
    return (u - n * m / 2) / math.sqrt(n * m * (n + m + 1) / 12)


def compare(connection, one, other):
    """Samples of two questions, taken in turns; gives score, share and the answers seen."""
    times = ([], [])
    seen = (set(), set())
    for _ in range(SAMPLES):
        for side in random.sample((0, 1), 2):
            took, answer = ask(connection, *(one, other)[side])
            times[side].append(took)
            seen[side].add(repr(answer))
    medians = [statistics.median(side) for side in times]
    return rank_score(*times), abs(medians[0] - medians[1]) / min(medians), seen


def other_text(text):
    """As long and of the same letters, and nobody's."""
    return text[:-6] + "qqqqqq"


def main():
    random.seed(4)
    folder = tempfile.mkdtemp(prefix="interlock-isolation-")
    server = plane.start_server(folder)
    connection = plane.connect(server.address)
    operator = plane.UnixConnection(f"{folder}/data/operator.sock")
    ours = sign_up(connection, "ours")
    theirs = sign_up(connection, "theirs")
    # A key of a signup reads nothing but its bot; what else there is to ask takes `read`.
    status, made = plane.call(
        operator, "POST", f"/api/{ours['tenant']}/keys", {"label": "test", "scopes": ["bot", "read"]})
    operator.close()
    assert status == 201, made
    key = json.loads(made)["access_key"]
    us, them, nobody = ours["tenant"], theirs["tenant"], other_text(theirs["tenant"])
    wrong_key = other_text(theirs["key"])
    questions = {
        "read of a tenant": [("GET", f"/api/{t}/status", None, key) for t in (them, nobody)],
        "change of a tenant": [
            ("POST", f"/api/{t}/update_pnl", {"pnl_perc": 3}, key) for t in (them, nobody)],
        "stop of a tenant": [("POST", f"/api/{t}/stop", None, key) for t in (them, nobody)],
        "approval": [
            ("GET", f"/api/{us}/approvals/{i}", None, key)
            for i in (theirs["approval"], other_text(theirs["approval"]))],
        "strange key on a tenant": [
            ("GET", f"/api/{t}/status", None, wrong_key) for t in (them, nobody)],
    }
    worst = 0.0
    for name, (one, other) in questions.items():
        score, share, seen = compare(connection, one, other)
        texts = [{text.replace(them, "*").replace(nobody, "*").replace(
            theirs["approval"], "*").replace(other_text(theirs["approval"]), "*")
            for text in side} for side in seen]
        assert texts[0] == texts[1] and len(texts[0]) == 1, (name, texts)
        print(f"{name}: score {score:+.2f}, medians differ by {share:.1%}", flush=True)
        assert abs(score) < SCORE_MAX or share < SHARE_MAX, (name, score, share)
        worst = max(worst, abs(score))
    told_apart = compare(
        connection, ("GET", f"/api/{us}/audit?limit=1000", None, key),
        ("GET", f"/api/{them}/audit?limit=1000", None, key))
    print(f"an answer and a refusal: score {told_apart[0]:+.2f}, {told_apart[1]:.0%}")
    assert abs(told_apart[0]) > SCORE_MAX and told_apart[1] > SHARE_MAX, told_apart[:2]
    server.kill()
    shutil.rmtree(folder)
    print(f"{len(questions)} questions, {2 * SAMPLES} samples each, worst score {worst:.2f}")


if __name__ == "__main__":
    main()
