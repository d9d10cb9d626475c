#!/usr/bin/env bash
# Verifies a signed JSON answer of the stack service with jq and openssl alone; docs/receipts.md defines the formats.
# Needs three files in the current directory:
#   curl -s -H "X-Stack-Key: $key" "$base/stack/v1/domains/example.com" > answer.json
#   curl -s "$base$(jq -r .provenance.public_key_url answer.json)" > keys.json
#   curl -s "$base/ledger/receipts/$(jq -r .provenance.ledger_receipt_id answer.json)" > ledger.json
# For the numbers and names of our answers, `jq -cS` writes the JCS text. Exits with 0 if every step succeeds.
set -euo pipefail

# 1. The signed bytes, and their digest.
jq -cSj 'del(.provenance.signature, .provenance.ledger_receipt_id)' answer.json > signed.bin
digest=$(openssl dgst -sha256 -r signed.bin | cut -d' ' -f1)

# 2. The key in openssl's form: twelve fixed bytes (RFC 8410) and the 32 bytes of `x`.
public_key() { (printf '\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00'; cat) | openssl pkey -pubin -inform DER; }
x=$(jq -r --arg kid "$(jq -r .provenance.key_id answer.json)" '.keys[] | select(.kid == $kid) | .x' keys.json)
echo "$x=" | tr '_-' '/+' | base64 -d | public_key > receipt-key.pem

# 3. The signature.
jq -r .provenance.signature answer.json | cut -d: -f2 | base64 -d > signature.bin
openssl pkeyutl -verify -pubin -inkey receipt-key.pem -rawin -in signed.bin -sigfile signature.bin

# 4. The leaf: the ledger has the leaf that we compute, and its hash gives the id.
jq -cSj --arg digest "$digest" \
  '.provenance | {content_sha256: $digest, key_id, receipt_id, signature, signed_at}' answer.json > leaf.bin
jq -r .leaf ledger.json | base64 -d | cmp - leaf.bin
hash=$( (printf '\0'; cat leaf.bin) | openssl dgst -sha256 -r | cut -d' ' -f1)
from_hex() { printf "$(sed 's/../\\x&/g' <<< "$1")"; }
id=cr_$(from_hex "${hash:0:40}" | base32 | tr A-Z a-z)
test "$id" = "$(jq -r .provenance.ledger_receipt_id answer.json)"

# 5. The inclusion proof (RFC 9162 section 2.1.3.2): from the leaf's hash to the checkpoint's root.
index=$(jq .index ledger.json); last=$(( $(jq .tree_size ledger.json) - 1 ))
node() { (printf '\1'; from_hex "$1"; from_hex "$2") | openssl dgst -sha256 -r | cut -d' ' -f1; }
for sibling in $(jq -r '.proof[]' ledger.json); do
  sibling=$(base64 -d <<< "$sibling" | od -An -v -tx1 | tr -d ' \n')
  if (( index % 2 == 1 || index == last )); then
    hash=$(node "$sibling" "$hash")
    while (( index % 2 == 0 && index != 0 )); do index=$(( index / 2 )); last=$(( last / 2 )); done
  else
    hash=$(node "$hash" "$sibling")
  fi
  index=$(( index / 2 )); last=$(( last / 2 ))
done
test "$(from_hex "$hash" | base64 -w0)" = "$(jq -r .checkpoint ledger.json | sed -n 3p)"
test "$last" = 0

# 6. The checkpoint: size of the proof, origin of the key set, signature of the ledger's key.
jq -r .checkpoint ledger.json | head -3 > checkpoint.txt
test "$(sed -n 1p checkpoint.txt)" = "$(jq -r .ledger.origin keys.json)"
test "$(sed -n 2p checkpoint.txt)" = "$(jq .tree_size ledger.json)"
jq -r '.ledger.verifier_keys[0]' keys.json | cut -d+ -f3- | base64 -d | tail -c 32 | public_key > ledger-key.pem
jq -r .checkpoint ledger.json | sed -n 5p | cut -d' ' -f3 | base64 -d | tail -c 64 > checkpoint.sig
openssl pkeyutl -verify -pubin -inkey ledger-key.pem -rawin -in checkpoint.txt -sigfile checkpoint.sig
