// What the help of a command says beyond its options. Apart from the commands, which are loaded when they are called.

export const verifyHelp = `
A CSV answer has its receipt in the header Stack-Provenance. Save both, then verify:
  curl -D headers.txt -o file.csv -H "X-Stack-Key: $STRATA_KEY" URL
  strata stack verify file.csv --provenance headers.txt --base SERVICE
An event of the stream is verified as a file that holds its JSON, the text after "data:".

Exit codes:
  0  the receipt holds
  1  the receipt does not hold, or there is none
  2  wrong use: no such file, or one that holds no answer
  3  the receipt holds, and the answer is an error (a wrong key, an unknown domain)
  4  the answer, the keys or the ledger could not be fetched, so nothing is known`;

export const explainHelp = `
Example:
  echo '{"domain": "example.com", "mx": [{"preference": 10, "exchange": "aspmx.l.google.com"}]}' | strata stack explain
answers with the mail provider, and with the evidence for it:
  {"domain":"example.com","services":[{"category":"email","provider":"Google Workspace",...}]}

Fields (only domain is needed; others that are given are named on standard error and ignored):
  {"domain": "example.com", "ns": ["..."], "mx": [{"preference": 10, "exchange": "..."}], "txt": ["..."],
   "dmarc": "...", "caa": ["..."], "cname": {"www.example.com": "..."},
   "a": [{"address": "192.0.2.1", "asn": 64496, "as_name": "..."}], "headers": {"server": "..."},
   "cookies": ["..."], "html": "...", "tls_issuer": "..."}`;
