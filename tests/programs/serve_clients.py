# SPDX-License-Identifier: Apache-2.0
"""goldcrest-serve with clients: its texts are those of goldcrest-transcribe and goldcrest-translate, bad input gets an
error and disturbs nobody. PyPI's clients take part if they are installed.
Usage: serve_clients.py SOURCE FOLDER_OF_PROGRAMS CONVERT [soak [SPEECH_MODEL]]"""
import atexit
import contextlib
import faulthandler
import importlib.util
import json
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import wave
import zlib

SOURCE, PROGRAMS, CONVERT = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
CLIP, ADD_ON = SOURCE / "tests/data/speech/ask.wav", SOURCE / "examples/serve/install/home_assistant"


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def convert(checkpoint, path, *options):
    subprocess.run([CONVERT, checkpoint, "-o", path, *options], check=True, capture_output=True)
    return path


def write_detector(path):
    """A voice detector with Silero's names that takes all sound for speech, so that its loudness decides."""
    shapes = {"stft.forward_basis_buffer": [258, 1, 256], "decoder.decoder.2.weight": [1, 128, 1],
              "decoder.decoder.2.bias": [1]}
    for i, (n, k) in enumerate([(128, 129), (64, 128), (64, 64), (128, 64)]):
        shapes |= {f"encoder.{i}.reparam_conv.weight": [n, k, 3], f"encoder.{i}.reparam_conv.bias": [n]}
    for side in ("ih", "hh"):
        shapes |= {f"decoder.rnn.weight_{side}": [512, 128], f"decoder.rnn.bias_{side}": [512]}
    head, data = {}, b""
    for name, shape in shapes.items():
        begin = len(data)
        data += struct.pack("<f", 2.2 if name.endswith("2.bias") else 0) * math.prod(shape)
        head["model." + name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


class Server:
    def __init__(self, models, *options):
        self.http, self.wyoming = free_port(), free_port()
        command = [PROGRAMS / "goldcrest-serve", "--http", f"127.0.0.1:{self.http}", "--wyoming",
                   f"tcp://127.0.0.1:{self.wyoming}", *options]
        for model in models:
            command += ["--model", model]
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stderr=self.log)
        atexit.register(self.process.kill)
        self.url = f"http://127.0.0.1:{self.http}"
        for _ in range(200):
            try:
                return self.check()
            except OSError:
                time.sleep(0.05)
        self.log.seek(0)
        raise AssertionError("the server does not answer: " + self.log.read())

    def check(self):
        assert json.load(urllib.request.urlopen(self.url + "/health", timeout=5)) == {"status": "ok"}

    def stop(self):
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(5) == 0
        assert time.monotonic() - begin < 2

    def ask(self, path, body=None, **headers):
        request = urllib.request.Request(self.url + path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def upload(self, sound, path="/v1/audio/transcriptions", **fields):
        parts = [f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
                 for name, value in fields.items()]
        parts.append(b'--b\r\nContent-Disposition: form-data; name="file"; filename="../../a.wav"\r\n\r\n')
        body = b"".join(parts) + sound + b"\r\n--b--\r\n"
        return self.ask(path, body, Content_Type="multipart/form-data; boundary=b")

    def raw(self, data, port=None):
        """Sends bytes; returns all that comes until the server closes or says nothing for a while."""
        with socket.create_connection(("127.0.0.1", port or self.http), timeout=60) as it:
            try:
                it.sendall(data)
                it.shutdown(socket.SHUT_WR)
                return b"".join(iter(lambda: it.recv(65536), b"")).decode()
            except ConnectionError:
                return ""

    def events(self, *events):
        """Talks Wyoming; returns the answers."""
        return read_events(self.raw(b"".join(events), self.wyoming))


def read_events(text):
    answers = []
    while text:
        line, _, text = text.partition("\n")
        head = json.loads(line)
        data = text.encode()[:head.get("data_length", 0)].decode()
        text = text[len(data):]
        answers.append((head["type"], json.loads(data or "{}")))
    return answers


def event(kind, data=None, payload=b"", inline=False):
    body = b"" if inline or not data else json.dumps(data).encode()
    head = {"type": kind, "payload_length": len(payload)} | ({"data": data} if inline else {"data_length": len(body)})
    return json.dumps(head).encode() + b"\n" + body + payload


def command(pcm, rate=16000, width=2, channels=1, inline=False, **request):
    form = {"rate": rate, "width": width, "channels": channels}
    chunks = [event("audio-chunk", form, pcm[i:i + 1500], inline) for i in range(0, len(pcm), 1500)]
    return b"".join([event("transcribe", request, inline=inline), event("audio-start", form, inline=inline), *chunks,
                     event("audio-stop")])


def check_wyoming(server, pcm, text):
    info = server.events(event("describe"), event("ping", {"text": "a"}), event("no-such-event", {"a": 1}, b"abc"))
    assert [kind for kind, _ in info] == ["info", "pong"] and info[1][1] == {"text": "a"}, info
    assert [model["name"] for model in info[0][1]["asr"][0]["models"]] == ["moonshine", "whisper"], info
    for inline in (False, True):
        answers = server.events(command(pcm, inline=inline, transcript_names=["Ann", "", "\U0001f600"]))
        kinds = [kind for kind, _ in answers if kind != "transcript-chunk"]
        assert kinds == ["transcript-start", "transcript", "transcript-stop"], answers
        assert inline or "".join(data["text"] for kind, data in answers if kind == "transcript-chunk") == \
            next(data["text"] for kind, data in answers if kind == "transcript"), answers
    plain = dict(server.events(command(pcm)))["transcript"]["text"]
    assert plain == text, (plain, text)
    # The same sound in other forms: two channels of 32 bits, and a byte too many at the end.
    wide = b"".join(b"\0\0" + pcm[i:i + 2] for i in range(0, len(pcm), 2) for _ in "ab") + b"\0"
    assert dict(server.events(command(wide, width=4, channels=2)))["transcript"]["text"] == text
    assert "transcript" in dict(server.events(command(pcm, rate=44100)))


def check_detector(model, pcm):
    """The server ends a turn itself, also while the client goes on; an old client reads after audio-stop only."""
    server = Server([model])
    info = server.events(event("describe"))[0][1]
    assert info["asr"][0]["requires_external_vad"] is False, info
    quiet, form = bytes(2 * 16000 * 2), {"rate": 16000, "width": 2, "channels": 1}
    whole = server.events(command(quiet + pcm + quiet + pcm))
    assert [kind for kind, _ in whole].count("transcript") == 1, whole
    with socket.create_connection(("127.0.0.1", server.wyoming), timeout=20) as it:
        it.sendall(event("transcribe") + event("audio-start", form) + event("audio-chunk", form, quiet + pcm + quiet))
        answers = b""
        while b'"transcript-stop"' not in answers:
            answers += it.recv(4096)
    assert read_events(answers.decode()) == whole, (answers, whole)
    silent = server.events(event("transcribe") + event("audio-start", form) + event("audio-chunk", form, quiet) * 6)
    assert dict(silent)["transcript"]["text"] == "", silent
    server.stop()


BAD_EVENTS = [b"{\n", b"[]\n", b'{"type": 1}\n', b"\xff\xfe\n", b"a" * 70000, b"[" * 60000 + b"\n",
              b'{"type":"ping","data_length":-1}\n', b'{"type":"ping","data_length":99999999999}\n',
              b'{"type":"ping","data_length":1.5}\n', b'{"type":"ping","payload_length":1048577}\n',
              b'{"type":"ping","data_length":2}\n[]', event("select-program", {"name": "other"}),
              event("transcribe", {"language": "xx"}) + event("audio-start", {}),
              event("audio-start", {"rate": 1, "width": 2, "channels": 1}),
              event("audio-start", {"rate": -16000}), event("audio-start", {"width": 9, "channels": 1}),
              event("audio-start", {}) + event("audio-chunk", {}, bytes(1000000)) * 3]


def http(head, body=b""):
    return head.replace("\n", "\r\n").encode() + body


BAD_REQUESTS = [(http("GET\n\n"), 400), (http("GET / HTTP/2.0\n\n"), 505), (http("GET / HTTP/1.1\nA b\n\n"), 400),
                (http("GET / HTTP/1.1\nA: " + "b" * 20000 + "\n\n"), 431), (b"GET / HTTP/1.1\nA: b\n\n", 400),
                (http("GET /../../etc/passwd HTTP/1.1\n\n"), 404), (http("DELETE /health HTTP/1.1\n\n"), 405),
                (http("POST /translate HTTP/1.1\nContent-Length: x\n\n"), 400),
                (http("POST /translate HTTP/1.1\nContent-Length: 5\nTransfer-Encoding: chunked\n\n"), 400),
                (http("POST /translate HTTP/1.1\nTransfer-Encoding: gzip\n\n"), 501),
                (http("POST /translate HTTP/1.1\nTransfer-Encoding: chunked\n\nzz\n"), 400),
                (http("POST /translate HTTP/1.1\nTransfer-Encoding: chunked\n\n" + "40000\n",
                      b"a" * 262144 + b"\r\n1\r\na"), 413),
                (http("POST /translate HTTP/1.1\nContent-Length: 300000\n\n", b"a" * 300000), 413),
                (http("GET /health HTTP/1.1\nOrigin: https://evil.example\n\n"), 403),
                (http("POST /v1/audio/transcriptions HTTP/1.1\nContent-Type: multipart/form-data\n"
                      "Content-Length: 1\n\na"), 400)]


def check_hostile(server, pcm, text):
    stalled = [socket.create_connection(("127.0.0.1", port)) for port in [server.http, server.wyoming] * 20]
    for it in stalled:
        it.sendall(b"{" if it.getpeername()[1] == server.wyoming else b"POST /translate HTTP/1.1\r\nContent-")
    for bad in BAD_EVENTS:
        answers = server.events(bad)
        assert answers and answers[-1][0] == "error" and answers[-1][1]["text"], (bad[:60], answers)
    for bad, status in BAD_REQUESTS:
        answer = server.raw(bad)
        assert answer.startswith(f"HTTP/1.1 {status} "), (bad[:60], answer[:300])
    server.raw(command(pcm)[:-30000], server.wyoming)  # it vanishes
    assert dict(server.events(command(pcm)))["transcript"]["text"] == text
    crowd = [socket.create_connection(("127.0.0.1", server.http)) for _ in range(200)]
    for it in stalled + crowd:
        it.close()
    time.sleep(0.2)
    server.check()


def check_uploads(server, wav, text):
    for fmt, wanted in (("json", None), ("text", text + "\n"), ("srt", None), ("vtt", None), ("verbose_json", None)):
        status, body = server.upload(wav, model="moonshine", response_format=fmt)
        assert status == 200 and (wanted is None or body == wanted), (fmt, status, body)
        if fmt == "json":
            assert json.loads(body)["text"] == text, body
    for segment in json.loads(body)["segments"]:
        said = segment["text"].encode()
        assert segment["compression_ratio"] == len(said) / len(zlib.compress(said)), segment
        assert segment["temperature"] >= 0, segment
    assert server.upload(wav, path="/v1/audio/translations", model="any")[0] in (200, 400)
    bad = ((b"ID3\x04" + bytes(3000), 415), (b"", 415), (b"RIFF\0\0\0\0WAVEfmt ", 400), (wav[:-999], 400))
    for sound, status in bad:
        got, body = server.upload(sound, model="moonshine")
        assert got == status and json.loads(body)["error"]["message"], (sound[:9], got, body)
    assert server.upload(wav, response_format="xml")[0] == 400
    assert server.upload(wav, language="xx")[0] == 400
    assert server.upload(wav + bytes(2 << 20))[0] == 413


def check_texts(server, lines, wanted):
    as_json = {"Content_Type": "application/json"}
    check_texts_once(server, lines, wanted)
    form = server.upload(b"", path="/translate", q=lines[0], source="en", target="fr")[1]
    assert json.loads(form) == {"translatedText": wanted[0]}, form
    one = json.dumps({"q": "\n".join(lines), "source": "auto", "target": "fr-CA"}).encode()
    answer = json.loads(server.ask("/translate", one, **as_json)[1])
    assert answer["translatedText"] == "\n".join(wanted) and answer["detectedLanguage"]["language"] == "en", answer
    page = json.dumps({"q": f"<p class='a'>{lines[0]}</p><!-- {lines[0]} -->", "source": "en", "target": "fr",
                       "format": "html"}).encode()
    made = json.loads(server.ask("/translate", page, **as_json)[1])["translatedText"]
    assert made == f"<p class='a'>{wanted[0]}</p><!-- {lines[0]} -->".replace("'m", "'m"), made
    back = json.dumps({"q": "A", "source": "fr", "target": "fr"}).encode()
    assert json.loads(server.ask("/translate", back, **as_json)[1])["translatedText"] == "A"
    for bad in (b"[]", b"{", b'{"q":1}', b'{"q":["a",2],"source":"en","target":"fr"}', b'{"q":"a","target":"fr"}',
                b'{"q":"a","source":"fr","target":"en"}', b'{"q":"a\\u0000","source":"en","target":"fr"}',
                b'{"q":"\xff","source":"en","target":"fr"}'):
        status, body = server.ask("/translate", bad, **as_json)
        assert status == 400 and json.loads(body)["error"], (bad, status, body)
    assert server.ask("/detect", b"q=a")[0] == 501


def check_doors(model, pcm, text):
    """Standard input, a unix socket, and a socket of systemd that outlives the server."""
    program = PROGRAMS / "goldcrest-serve"
    out = subprocess.run([program, "--model", model, "--wyoming", "stdio://"], input=command(pcm), capture_output=True)
    assert out.returncode == 0 and json.dumps(text)[1:-1].split("\\")[0].encode() in out.stdout, out
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        for _ in range(2):
            client = socket.create_connection(listening.getsockname())
            client.sendall(event("ping", {"text": "early"}))
            start = f'exec 3<&{listening.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ LISTEN_FDNAMES=wyoming exec "$@"'
            with subprocess.Popen(["bash", "-c", start, "-", program, "--model", model], stderr=subprocess.DEVNULL,
                                  pass_fds=[listening.fileno()]) as server:
                client.settimeout(20)
                assert b'"pong"' in client.recv(4096)
                client.sendall(command(pcm * 8))  # it is answered or refused
                server.send_signal(signal.SIGTERM)
                assert server.wait(5) == 0
                rest = b"".join(iter(lambda: client.recv(4096), b""))
                assert b'"transcript-stop"' in rest or b'"error"' in rest, rest
            client.close()


# Keys of an add-on's config.yaml that Home Assistant's Supervisor accepts.     supervisor/addons/validate.py
ADD_ON_KEYS = set("""advanced apparmor arch audio auth_api backup backup_exclude backup_post backup_pre boot
  breaking_versions description devices devicetree discovery docker_api environment full_access gpio hassio_api
  hassio_role homeassistant homeassistant_api host_dbus host_ipc host_network host_pid host_uts image ingress
  ingress_entry ingress_port ingress_stream init journald kernel_modules legacy machine map name options panel_admin
  panel_icon panel_title ports ports_description privileged realtime restore_post restore_pre schema services slug stage
  startup stdin timeout tmpfs uart udev ulimits url usb version video watchdog webui""".split())


def read_add_on():
    """Returns the add-on's keys, and the entries of those that have some, after a comparison with the Supervisor's."""
    values, entries = {}, {}
    for line in (ADD_ON / "config.yaml").read_text().splitlines()[1:]:
        key, _, value = line.strip(" -").partition(":")
        if line[0] != " ":
            top = key
        (entries.setdefault(top, {}) if line[0] == " " else values)[key] = value.strip()
    assert set("name version slug description arch".split()) <= set(values) <= ADD_ON_KEYS, values
    assert set(values["arch"].strip("[]").split(", ")) <= {"aarch64", "amd64"}, values
    assert values["startup"] in ("initialize", "system", "services", "application", "once"), values
    assert set(entries["map"]) <= {"type", "read_only", "path"} and entries["map"]["type"] == "share", entries
    assert re.fullmatch(r"[-_.A-Za-z0-9]+", values["slug"]) and set(entries["ports"]) == {"10300/tcp"}, values
    assert all(re.fullmatch(r"(bool|port|(str|int|float)(\(\d*,\d*\))?|list\(.+\))\??", kind)
               for kind in entries["schema"].values()) and set(entries["schema"]) == set(entries["options"]), entries
    return entries


def check_add_on(supervisor, model, pcm, text, root):
    """The add-on's image in a root of its own takes the options, tells the Supervisor, and answers."""
    options = {key: json.loads(value) if value.isdigit() else value for key, value in read_add_on()["options"].items()}
    program = PROGRAMS / "goldcrest-serve"
    if supervisor is None or program.read_bytes()[:4] != b"\x7fELF":
        return print("the add-on's image is left out: it needs root, unshare -n, and a program of this machine")
    image = [line.split(" ", 1) for line in (ADD_ON / "Dockerfile").read_text().splitlines() if line[0] != "#"]
    assert image[:2] == [["FROM", "scratch"], ["COPY", "goldcrest-serve /"]] and len(image) == 3, image
    linked = subprocess.run(["ldd", program], capture_output=True, text=True).stdout  # none of a release's program
    for source, path in ((program, "/goldcrest-serve"), (model, options["model"]),
                         *((library, library) for library in re.findall(r"/\S+", linked))):
        target = root / path[1:]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    (root / "data").mkdir()
    (root / "data/options.json").write_text(json.dumps(options))
    words = ["chroot", root, *json.loads(dict(image)["ENTRYPOINT"])]
    token = os.environ | {"SUPERVISOR_TOKEN": "secret"}
    with subprocess.Popen(words, env=token, stderr=subprocess.PIPE) as server:
        asking = supervisor.accept()[0]
        head, body = asking.recv(4096).split(b"\r\n\r\n")
        assert head.startswith(b"POST /discovery HTTP/1.1\r\n"), head
        assert b"\r\nAuthorization: Bearer secret\r\n" in head, head
        uri = f"tcp://{socket.gethostname()}:10300"
        assert json.loads(body) == {"service": "wyoming", "config": {"uri": uri}}, body
        asking.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
        asking.close()
        log = [server.stderr.readline().decode() for _ in range(3)]
        assert "Home Assistant knows this server" in log[2], log
        with socket.create_connection(("127.0.0.1", 10300), timeout=20) as it:
            it.sendall(command(pcm))
            it.shutdown(socket.SHUT_WR)
            answers = read_events(b"".join(iter(lambda: it.recv(65536), b"")).decode())
        assert dict(answers)["transcript"]["text"] == text, answers
        server.terminate()
        assert server.wait(5) == 0


def check_corpus(model, lines, work):
    """Two Dask workers translate a corpus by translate_corpus.py, and one of them is killed in the middle."""
    try:
        import distributed
    except ImportError as error:
        return print(f"the corpus is left out: {error}; pip install distributed")
    (work / "corpus").write_text("".join(f"{line}\n" for line in lines * 200))
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        worker = [sys.executable, "-m", "dask", "worker", cluster.scheduler_address, "--nthreads", "1", "--no-nanny"]
        with_programs = os.environ | {"PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
        workers = [subprocess.Popen(worker, stderr=subprocess.DEVNULL, env=with_programs) for _ in range(2)]
        for each in workers:
            atexit.register(each.kill)
        with distributed.Client(cluster) as client:
            client.wait_for_workers(2, timeout=60)
        program = [sys.executable, SOURCE / "examples/serve/translate_corpus.py", model, work / "corpus", work / "out",
                   "--scheduler", cluster.scheduler_address, "--lines", "20"]
        with subprocess.Popen(program) as process:
            while len(list((work / "out.20").glob("*"))) < 3:
                assert process.poll() is None
                time.sleep(0.01)
            workers[0].kill()
            n_blocks = len(list((work / "out.20").glob("*")))
            assert process.wait(120) == 0 and n_blocks < 25, n_blocks
        workers[1].terminate()
        assert workers[1].wait(30) == 0
    with open(work / "corpus") as corpus:
        wanted = subprocess.run([PROGRAMS / "goldcrest-translate", model, "--batch", "8"], stdin=corpus,
                                capture_output=True, check=True).stdout
    assert (work / "out").read_bytes() == wanted
    print(f"a worker was killed after {n_blocks} of 30 blocks, and the corpus is whole")


def check_page(folder, moonshine, enfr, lines):
    """Runs the commands of examples/serve/README.md, with a small model of speech and ports that are free."""
    page = (SOURCE / "examples/serve/README.md").read_text()
    fetched = (SOURCE / "examples/speech/README.md").read_text()  # speech_page_full runs these commands
    (folder / "build/bin").mkdir(parents=True)
    for name, target in {"tests": SOURCE / "tests", "examples": SOURCE / "examples", "build/moonshine-tiny": moonshine,
                         "build/enfr.gcst": enfr, "build/bin/goldcrest-convert": CONVERT,
                         "build/bin/goldcrest-serve": PROGRAMS / "goldcrest-serve"}.items():
        (folder / name).symlink_to(target)
    (folder / "corpus.en").write_text("\n".join(lines) + "\n")
    ports = {port: str(free_port()) for port in ("10300", "8080", "8786")}
    path = f"{PROGRAMS}:{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    how = {"cwd": folder, "env": os.environ | {"PATH": path}, "text": True}
    blocks = re.findall(r"```sh\n(.*?)```\n(?:```text\n(.*?)```)?", page, re.S)
    assert len(blocks) == 4, blocks
    for commands, wanted in blocks:
        servers, printed = [], ""
        if "dask" in commands and importlib.util.find_spec("distributed") is None:
            continue
        for command in commands.strip().split("\n"):
            for port, free in ports.items():
                command = command.replace("HOST", "127.0.0.1").replace(port, free)
            if re.match("build/bin/goldcrest-serve|dask", command):
                servers.append(subprocess.Popen(["bash", "-c", "exec " + command], stdout=subprocess.PIPE,
                                                stderr=subprocess.STDOUT, **how))
                atexit.register(servers[-1].kill)
                where = "127.0.0.1", int(re.search(r"[ :](\d{4,})", command)[1])
                for _ in range(400):
                    with contextlib.suppress(OSError), socket.create_connection(where):
                        break
                    time.sleep(0.05)
            elif not re.match("bash|python3 -m pip|python3 examples/speech", command):
                ran = subprocess.run(["bash", "-c", command], check=True, capture_output=True, timeout=120, **how)
                printed += ran.stdout
            else:
                assert command in fetched, command
        for server in reversed(servers):
            server.terminate()
            printed += server.communicate(timeout=60)[0]
        for port, free in ports.items():
            printed = printed.replace(free, port)
        for line in wanted.strip().split("\n"):
            assert line.removesuffix("...") in printed, (line, printed)
    if (folder / "corpus.fr").exists():
        assert (folder / "corpus.fr").read_text().count("\n") == len(lines)


def footprint(pid):
    """Returns the kilobytes of private dirty memory of a process, and its descriptors."""
    lines = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().split("\n")
    dirty = next(line for line in lines if line.startswith("Private_Dirty"))
    return int(dirty.split()[1]), len(os.listdir(f"/proc/{pid}/fd"))


def be_8(client):
    clients = [threading.Thread(target=client) for _ in range(8)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()


def check_soak(server, pcm, text, lines, wanted):
    """10,000 commands and 100,000 lines over 8 connections: memory stays, and so do descriptors."""
    def run(count):
        def client():
            for _ in range(count // 8):
                assert dict(server.events(command(pcm)))["transcript"]["text"] == text
                check_texts_once(server, lines * 4, wanted * 4)
                done.append(1)
        done = []
        be_8(client)
        assert len(done) == count // 8 * 8, len(done)
        time.sleep(0.5)
        now = footprint(server.process.pid)
        print(f"after {count} more commands: {now[0]} kB private dirty, {now[1]} descriptors", flush=True)
        return now
    check_steady(run(count) for count in (1000, *[2256] * 4))


def check_live(model, pcm):
    """goldcrest-transcribe --live hears an hour of sound; its memory stays."""
    with subprocess.Popen([PROGRAMS / "goldcrest-transcribe", model, "--live", "--json"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        texts = []
        reader = threading.Thread(target=lambda: texts.extend(process.stdout))
        reader.start()

        def hear(minutes):
            for _ in range(minutes * 60 * 32000 // len(pcm + bytes(32000))):
                process.stdin.write(pcm + bytes(32000))
            process.stdin.flush()
            now = footprint(process.pid)
            print(f"after {minutes} more minutes: {now[0]} kB private dirty, {len(texts)} texts", flush=True)
            return now
        check_steady(hear(minutes) for minutes in (6, 18, 18, 18))
        process.stdin.close()
        reader.join()
    assert process.returncode == 0 and len(texts) > 1000, (process.returncode, len(texts))


def check_steady(footprints):
    memory, files = zip(*footprints)
    assert max(memory) <= memory[0] + 256 and files[-1] <= files[0], (memory, files)


def check_texts_once(server, lines, wanted):
    body = json.dumps({"q": lines, "source": "en", "target": "fr"}).encode()
    assert json.loads(server.ask("/translate", body, Content_Type="application/json")[1])["translatedText"] == wanted


def check_pypi(server, text, line, translated):
    try:
        import asyncio
        import openai
        import libretranslatepy
        from wyoming.asr import Transcribe
        from wyoming.audio import AudioChunk, AudioStart, AudioStop
        from wyoming.client import AsyncTcpClient
        from wyoming.info import Describe, Info
    except ImportError as error:
        return print(f"PyPI's clients are left out: {error}; pip install wyoming openai libretranslatepy")
    api = libretranslatepy.LibreTranslateAPI(server.url)
    assert api.translate(line, "en", "fr") == translated
    assert api.languages() == [{"code": "en", "name": "English", "targets": ["fr"]}]
    client = openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0)
    assert [model.id for model in client.models.list()] == ["moonshine", "whisper", "enfr"]
    for fmt in ("json", "text", "srt", "vtt", "verbose_json"):
        with open(CLIP, "rb") as file:
            made = client.audio.transcriptions.create(file=file, model="moonshine", response_format=fmt)
        if fmt in ("json", "text"):  # the others hear utterances, which begin and end elsewhere
            assert (made.rstrip("\n") if fmt == "text" else made.text) == text, (fmt, made)
    for fmt in ("json", "text"):
        with open(CLIP, "rb") as file:
            stream = client.audio.transcriptions.create(file=file, model="moonshine", response_format=fmt, stream=True)
            got = list(stream)
        assert got[-1].type == "transcript.text.done" and got[-1].text == text
        assert "".join(each.delta for each in got[:-1]) == text

    async def talk():
        async with AsyncTcpClient("127.0.0.1", server.wyoming) as it:
            await it.write_event(Describe().event())
            info = Info.from_event(await it.read_event())
            assert info.asr[0].models[0].languages == ["en"] and info.asr[0].supports_transcript_streaming
            await it.write_event(Transcribe(language="en").event())
            with wave.open(str(CLIP)) as clip:
                form = {"rate": clip.getframerate(), "width": 2, "channels": 1}
                await it.write_event(AudioStart(**form).event())
                await it.write_event(AudioChunk(audio=clip.readframes(clip.getnframes()), **form).event())
            await it.write_event(AudioStop().event())
            kinds = []
            while not kinds or kinds[-1] != "transcript-stop":
                kinds.append((await it.read_event()).type)
            assert kinds[-2] == "transcript", kinds

    asyncio.run(talk())
    print("PyPI's clients of Wyoming, OpenAI and LibreTranslate agree")


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for family, files in json.loads((SOURCE / "tests/data/speech.json").read_text()).items():
            (work / family).mkdir()
            for name, digits in files.items():
                (work / family / name).write_bytes(bytes.fromhex(digits))
        models = [convert(work / family, work / (family + ".gcst")) for family in ("moonshine", "whisper")]
        if sys.argv[5:]:
            models[0] = f"moonshine={sys.argv[5]}"
        models.append(convert(SOURCE / "examples/models/enfr", work / "enfr.gcst"))
        wav = CLIP.read_bytes()
        with wave.open(str(CLIP)) as clip:
            pcm = clip.readframes(clip.getnframes())

        def printed(program, *words, **how):
            run = subprocess.run([PROGRAMS / program, *words], capture_output=True, text=True, check=True, **how)
            return run.stdout

        text = printed("goldcrest-transcribe", str(models[0]).split("=")[-1], CLIP)[:-1]
        lines = ["Where is the station? I'm hungry.", "", "  Let's go home. "]
        wanted = printed("goldcrest-translate", models[2], "--batch", "4", input="\n".join(lines)).split("\n")[:3]
        server = Server(models, "--max-upload", "1000000")
        check_wyoming(server, pcm, text)
        check_uploads(server, wav, text)
        check_texts(server, lines, wanted)
        check_pypi(server, text, lines[0], wanted[0])
        check_hostile(server, pcm, text)
        if sys.argv[4:]:
            faulthandler.cancel_dump_traceback_later()
            check_soak(server, pcm, text, lines, wanted)
            check_live(models[0], pcm)
        check_corpus(models[2], lines, work)
        check_page(work / "page", work / "moonshine", models[2], lines)
        results = []
        be_8(lambda: results.extend(dict(server.events(command(pcm)))["transcript"]["text"] for _ in range(5)))
        assert results == [text] * 40, set(results)
        server.stop()
        check_doors(models[0], pcm, text)
        if shutil.which("systemd-analyze"):  # the page has this score: 0.5
            unit = SOURCE / "examples/serve/install/goldcrest-serve.service"
            subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=5", unit], check=True,
                           stdout=subprocess.DEVNULL)
        check_add_on(SUPERVISOR, str(models[0]).split("=")[-1], pcm, text, work / "root")
        voice = write_detector(work / "voice.safetensors")
        check_detector(convert(work / "moonshine", work / "heard.gcst", "--voice", voice), pcm)
        (work / "keys").write_text("secret\n")
        spoken = pathlib.Path(shutil.copytree(SOURCE / "examples/models/g2p", work / "spoken"))
        config = (spoken / "config.json").read_text().replace('"en"', '"fr"').replace('"ARPAbet"', '"sounds"')
        (spoken / "config.json").write_text(config)
        models.append(convert(spoken, work / "spoken.gcst"))
        server = Server(models[2:], "--api-key-file", work / "keys", "--allow-origin", "https://a.example")
        form = b"q=station&source=en&target=sounds&api_key=secret"  # by way of French
        french = printed("goldcrest-translate", models[2], input="station")
        sounds = printed("goldcrest-translate", models[3], input=french)[:-1]
        assert json.loads(server.ask("/translate", form)[1]) == {"translatedText": sounds}, sounds
        assert server.ask("/v1/models")[0] == 401 and server.ask("/v1/models", Authorization="Bearer secre")[0] == 401
        assert server.ask("/v1/models", Authorization="Bearer secret", Origin="https://a.example")[0] == 200
        form = b"q=a&source=en&target=fr"
        assert server.ask("/translate", form)[0] == 403
        assert server.ask("/translate", form + b"&api_key=secret")[0] == 200
        server.stop()
        refused = subprocess.run([PROGRAMS / "goldcrest-serve", "--model", models[2], "--http", "0.0.0.0:1"],
                                 capture_output=True, text=True)
        assert refused.returncode == 2 and "--api-key-file" in refused.stderr, refused


SUPERVISOR = None
if __name__ == "__main__":
    try:
        SUPERVISOR = socket.create_server(("172.30.32.2", 80))
    except OSError:
        if subprocess.run(["unshare", "-n", "ip", "addr"], capture_output=True).returncode == 0:
            network = 'ip link set lo up && ip addr add 172.30.32.2/32 dev lo && exec "$@"'  # with this address
            os.execvp("unshare", ["unshare", "-n", "sh", "-c", network, "-", sys.executable, *sys.argv])
    faulthandler.dump_traceback_later(240, exit=True)
    main()
