// What the help of a command says beyond its options. Apart from the commands, which are loaded when they are called.

export const serveHelp = `
Roles, which STRATA_ROLE can name too. Several processes share one PostgreSQL database (STRATA_DATABASE_URL=postgres://...):
  all        everything in one process
  api        answers requests, and scans what is asked for
  scanner    scans what is due; as many as are useful
  scheduler  alerts, stream, advisories, feeds; one works, the others stand ready
A scanner and a scheduler listen on STRATA_METRICS_PORT alone, with /health and /ready beside /metrics.`;

const rememberedHelp = `
The key of a ledger and its latest checkpoint are remembered in strata/ledgers.json below XDG_STATE_HOME (~/.local/state).
From then on the ledger must prove that it goes on from there, under the same key or one that this key vouches for.
`;

export const verifyHelp = `
A CSV answer has its receipt in the header Stack-Provenance. Save both, then verify:
  curl -D headers.txt -o file.csv -H "X-Stack-Key: $STRATA_KEY" URL
  strata stack verify file.csv --provenance headers.txt --base SERVICE
An event of the stream is verified as a file that holds its JSON, the text after "data:".
${rememberedHelp}
Exit codes:
  0  the receipt holds
  1  the receipt does not hold, or there is none
  2  wrong use: no such file, or one that holds no answer
  3  the receipt holds, and the answer is an error (a wrong key, an unknown domain)
  4  the answer, the keys or the ledger could not be fetched, so nothing is known
  5  the ledger forked, lost leaves, or has another key or name than the one that is known`;

export const explainHelp = `
Example:
  echo '{"domain": "example.com", "mx": [{"preference": 10, "exchange": "aspmx.l.google.com"}]}' | strata stack explain
answers with the mail provider, and with the evidence for it:
  {"domain":"example.com","services":[{"category":"email","provider":"Google Workspace",...}]}

Fields (only domain is needed; others that are given are named on standard error and ignored):
  {"domain": "example.com", "ns": ["..."], "mx": [{"preference": 10, "exchange": "..."}], "txt": ["..."],
   "dmarc": "...", "caa": ["..."], "cname": {"www.example.com": "..."},
   "a": [{"address": "192.0.2.1", "asn": 64496, "as_name": "..."}], "headers": {"server": "..."},
   "cookies": ["..."], "html": "...", "tls_issuer": "...",
   "soa": "ns1.example.net hostmaster.example.net 1", "ds": ["60485 13 2 D4B7D520"],
   "aaaa": [{"address": "2001:db8::1", "asn": 64496}], "www": [{"address": "192.0.2.1", "asn": 64496}],
   "ns_addresses": [{"host": "ns1.example.com", "address": "192.0.2.53", "asn": 64496}],
   "spf_policies": {"_spf.example.net": ["..."]}, "dmarc_parents": {"com": ["..."]},
   "report_consents": {"example.net": ["..."]}, "mta_sts_policy": "...", "security_txt": "..."}

Of spf_policies, dmarc_parents and report_consents the values are TXT records: of the name that the SPF policy leads to,
of _dmarc below the parent, of example.com._report._dmarc below the host. The last two fields are the text of the files.`;

export const fingerprintsHelp = `
A set in the format of Wappalyzer, as its open successors publish it. Loaded with STRATA_FINGERPRINTS, its technologies
are detected beside the catalog's.

Exit codes:
  0  the set can be used, whatever of it is refused
  1  a path is wrong, or nothing in it can be used`;

export const gatewayHelp = `
Examples:
  strata inference gateway                         workers join it; it prints what they type
  strata inference gateway --model model.gguf      an engine of this machine, without a network
  strata inference gateway --join TOKEN            joins the network of another gateway or worker
  STRATA_INFERENCE_FREE_KEYS_PER_DAY=3 strata inference gateway
                                                   whoever opens its page, or asks POST /keys, gets a free key

Exit codes:
  0  it was stopped by SIGINT or SIGTERM
  1  it cannot start: a port in use, a model that cannot be loaded, a network that cannot be joined
  2  wrong use: an option or a setting that cannot be used

A second gateway of one machine needs a port, addresses and a directory of its own:
  STRATA_INFERENCE_PORT=8790 STRATA_P2P_LISTEN=/ip4/0.0.0.0/tcp/9790 STRATA_DATA=data-2 \\
    strata inference gateway --join TOKEN`;

export const chatHelp = `
While this asks, kill a worker of the network: no answer breaks as long as another has the model, and the receipt that is
told at the end (strata inference verify) says who went on.
  strata inference chat --repeat 300 "What is DMARC?"

Exit codes:
  0  all answers came whole
  1  one was refused or broke off, or nothing answers
  2  wrong use: no key, no question to repeat`;

export const networkHelp = `
Examples:
  strata inference network --watch                 of the gateway of this machine, anew every second
  strata inference network accounts --by model     what workers have made; reads STRATA_DATA, asks nobody`;

export const verifyReceiptHelp = `
Example:
  curl -D headers.txt -H "Authorization: Bearer $STRATA_INFERENCE_KEY" -H "Content-Type: application/json" \\
    --data-binary @request.json -o answer.json http://127.0.0.1:8788/v1/chat/completions
  said() { sed -n "s/^x-receipt-$1: //p" headers.txt | tr -d '\\r'; }
  strata inference verify $(said id) --salt $(said salt) --request request.json --answer answer.json

Exit codes:
  0  the receipt holds, and is of the request and the answer that were given
  1  it does not hold, there is none, or it is of another request or answer
  2  wrong use: no such file, or one that holds no receipt or answer
  3  the gateway answered with an error instead of a receipt
  4  the receipt, the keys or the ledger could not be fetched, so nothing is known
  5  the ledger forked, lost leaves, or has another key or name than the one that is known`;

export const logWitnessHelp = `
Settings:
  STRATA_WITNESS_NAME   the name of its key, chosen for ever: witness.example/w1
  STRATA_WITNESS_LOGS   verifier keys of the logs, between commas; those of a log are at its key set
  STRATA_DATA           keeps its key and the latest checkpoint of each log in the folder witness; never restore an older copy
Its verifier key is printed first: operators of logs and verifiers need it. docs/witnesses.md has all settings.`;

export const logPublishHelp = `
Example:
  strata log publish https://strata.example/ledger /var/www/ledger --every 10 --ledger-key strata.example/ledger+31fece9c+AYE5...
Serve the folder under any prefix; a client needs the prefix and the verifier key, and nothing of this service.`;

export const mcpHelp = `
An agent starts it by itself. Its configuration holds the command, its arguments and the environment, with full paths:
  {"mcpServers": {"strata": {
    "command": "/path/to/strata/node_modules/.bin/node",
    "args": ["/path/to/strata/services/cli/src/main.ts", "mcp"],
    "env": {"STRATA_KEY": "ssk_..."}}}}
By hand, for agents that are given a URL, http://127.0.0.1:8789/mcp:
  strata mcp --http                                  callers send their own key in the header X-Stack-Key
  STRATA_KEY=ssk_... strata mcp --http --lend-key    every program of this machine asks with your key

Exit codes:
  0  standard input ended, or it was stopped by SIGINT or SIGTERM
  1  it cannot listen, such as on a port in use
  2  wrong use: an address, a key or an option that cannot be used`;

export const configHelp = `
Settings are variables of the environment, or lines of a YAML file that STRATA_CONFIG names; the environment wins:
  STRATA_STACK_PORT=8787 STRATA_RESOLVERS=192.0.2.1,192.0.2.2
  stack_port: 8787
  resolvers: [192.0.2.1, 192.0.2.2]
A secret may be in a file of its own: STRATA_DATABASE_URL_FILE=/run/secrets/database-url, or database_url_file: in the YAML file.

Exit codes:
  0  the settings can be used
  1  some cannot; each is told`;

export const doctorHelp = `
Looks at the settings, ports, clock, resolvers, database, disk, keys, limits, memory, models and the services that are named. It
changes nothing but a file that it writes and removes in the data directory. Without --service: the stack service, and the gateway
where the settings give it something to serve.

Exit codes:
  0  nothing stands in the way; there may be warnings
  1  there are problems`;

export const migrateStoreHelp = `
Stop the service first: what it writes while the copy is made is not in the copy. The copy is made in one transaction: interrupted
or found to differ, it leaves the PostgreSQL database empty. Then set STRATA_DATABASE_URL to the new address and start the service.
The ledger is brought over by strata stack migrate-log; the signing keys stay in the data directory.

Other users of the machine can read a command's arguments, and so a password in the address; what it reads from standard input they cannot:
  echo "$NEW_DATABASE_URL" | strata stack migrate-store -`;

export const migrateLogHelp = `
Stop the service first. The leaves come in one transaction, behind those that the database has of the same log; then all of it is read
again and checked, and the folder is closed: the ledger cannot go on in two places. A database with another ledger in it is refused.
Interrupted, it has done nothing, or all but the check: run it again; after a run that ended well it says that nothing is left to do. Every node that serves from the database needs the same
keys/ledger folder.`;
export const backupHelp = `
Nobody waits while it is made. The set is a folder of mode 0700: the store as of one moment, every receipt of the ledger, its newest
checkpoint, and the public halves of the signing keys. It has its name once it is whole; interrupted, nothing is left of it.
Its manifest is signed with the ledger's key, and --verify and restore accept a backup of a key that they know: of the data directory
(STRATA_DATA), of --ledger-key, or of restore --keys.
Whoever has the private keys can sign in your name, so they go into a file of their own, which belongs elsewhere:
  strata stack backup /backups/2026-01-31 --keys /safe/keys-2026-01-31.json
  strata stack backup --verify /backups/2026-01-31

Exit codes:
  0  the backup is written, or whole and signed by a known key
  1  it cannot be made, is damaged, or no known key has signed it
  2  wrong use: a name that is taken, a folder that holds no backup
  130  interrupted`;

export const restoreHelp = `
Stop the service first. The backup is verified, made ready beside, and moved in; what was there is moved aside, never deleted.
A backup that is not signed, or by a key that neither the data directory nor --keys or --ledger-key has, needs --unverified.
A PostgreSQL backup goes into an empty database alone. A log that was published further than the backup is not gone on with:
keep the newer one, or begin a new name.

Exit codes:
  0  the service can be started
  1  the backup is damaged or of no known key, the place is in use, or the log was published further
  2  wrong use: something is there already, a backup of the other database
  130  interrupted`;
