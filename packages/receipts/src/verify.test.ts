import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatCheckpoint } from './checkpoint.ts';
import { keySetDocument, publicKeyEntry } from './key-set.ts';
import { formatVerifierKey, noteVerifier, signNote } from './note.ts';
import { issueDetachedReceipt, issueReceipt } from './receipt.ts';
import { AmbiguousJsonError, parseStrictJson } from './strict-json.ts';
import * as fixture from './test/fixture.ts';
import { KEY_OVERLAP_MS, VERIFY_STEPS, type VerifyStep, verifyAnswer, verifyDetachedAnswer } from './verify.ts';

const { bytesOf, checkpointOver, goodAnswer, KEY_SET, LEDGER_KEY, NOW, ORIGIN, RECEIPT_KEY, testKey } = fixture;
const good = await goodAnswer();
const { body, keySet, ledgerReceipt } = good;

/** Verifies the good answer with parts of it replaced, and says where that fails. */
async function failureOf(changed: {
  body?: unknown;
  keySet?: unknown;
  ledgerReceipt?: unknown;
}): Promise<VerifyStep | undefined> {
  const answer = { ...good, ...changed };
  const result = await verifyAnswer(answer.body, { keySet: answer.keySet, ledgerReceipt: answer.ledgerReceipt });
  assert.equal(result.ok, result.failedStep === undefined);
  assert.equal(result.steps.at(-1)?.ok, result.ok);
  return result.failedStep;
}

describe('a good answer', () => {
  it('passes every step', async () => {
    const { ok, steps } = await verifyAnswer(body, { keySet, ledgerReceipt });
    assert.ok(ok, JSON.stringify(steps));
    assert.deepEqual(
      steps.map(({ step }) => step),
      VERIFY_STEPS,
    );
  });

  it('passes with its members in another order and the ledger key pinned', async () => {
    const reordered = Object.fromEntries(Object.entries(body).reverse());
    const ledgerKey = formatVerifierKey(noteVerifier(ORIGIN, LEDGER_KEY.publicKey));
    assert.ok((await verifyAnswer(reordered, { keySet: { keys: keySet.keys }, ledgerReceipt, ledgerKey })).ok);
  });

  it('passes with a key that was retired later', async () => {
    const retired = publicKeyEntry(RECEIPT_KEY.publicKey, {
      status: 'retired',
      not_before: '2026-01-01T00:00:00.000Z',
      not_after: '2026-01-03T00:00:00.000Z',
    });
    assert.equal(await failureOf({ keySet: keySetDocument([retired], keySet.ledger) }), undefined);
  });
});

describe('an altered answer fails', () => {
  it('at the signature, for every altered value of the body', async () => {
    const provenance = body.provenance;
    for (const changed of [
      { ...body, domain: 'example.org' },
      { ...body, _alpha: false },
      { ...body, services: [] },
      { ...body, extra: 1 },
      { ...body, provenance: { ...provenance, receipt_id: provenance.receipt_id.replace('rwr_0', 'rwr_1') } },
      { ...body, provenance: { ...provenance, public_key_url: '/elsewhere' } },
      { ...body, provenance: { ...provenance, signed_at: '2026-01-02T03:04:05.679Z' } },
      { ...body, provenance: { ...provenance, extra: 1 } },
    ]) {
      assert.equal(await failureOf({ body: changed }), 'signature', JSON.stringify(changed));
    }
  });

  it('at the signature, when that is malformed or by another key', async () => {
    const provenance = body.provenance;
    for (const signature of [
      '',
      'ed25519:',
      provenance.signature.slice(8),
      `${provenance.signature}=`,
      'ed25519:AAAA',
    ]) {
      assert.equal(await failureOf({ body: { ...body, provenance: { ...provenance, signature } } }), 'signature');
    }
    const forger = { keyId: RECEIPT_KEY.keyId, sign: testKey(9).sign };
    assert.equal(await failureOf(await goodAnswer(forger)), 'signature');
  });

  it('at the key, when it is unknown, renamed, not yet or no longer in use', async () => {
    assert.equal(await failureOf(await goodAnswer(testKey(9))), 'key');
    const [key] = keySet.keys;
    assert.ok(key);
    const other = publicKeyEntry(testKey(9).publicKey, { status: 'current', not_before: key.not_before });
    const keySets: unknown[] = [
      { ...keySet, keys: [{ ...other, kid: key.kid }] },
      { ...keySet, keys: [{ ...key, kty: 'EC' }] },
      { ...keySet, keys: [{ ...key, x: 'AAAA' }] },
      { ...keySet, keys: [{ ...key, not_before: '2026-01-03T00:00:00Z' }] },
      { ...keySet, keys: [{ ...key, not_after: '2026-01-01T00:00:00Z' }] },
      { ...keySet, keys: [{ ...key, not_after: 'soon' }] },
      { ...keySet, keys: [] },
    ];
    for (const changed of keySets) assert.equal(await failureOf({ keySet: changed }), 'key', JSON.stringify(changed));
  });

  it('at the leaf, when the ledger holds something else', async () => {
    const other = await goodAnswer(RECEIPT_KEY, new Date(NOW.getTime() + 1));
    assert.equal(await failureOf({ ledgerReceipt: other.ledgerReceipt }), 'leaf');
    for (const changed of [
      { ...ledgerReceipt, leaf: other.ledgerReceipt.leaf },
      { ...ledgerReceipt, receipt_id: other.ledgerReceipt.receipt_id },
      { ...ledgerReceipt, ledger_receipt_id: other.ledgerReceipt.ledger_receipt_id },
    ]) {
      assert.equal(await failureOf({ ledgerReceipt: changed }), 'leaf');
    }
    const provenance = { ...body.provenance, ledger_receipt_id: other.body.provenance.ledger_receipt_id };
    assert.equal(await failureOf({ body: { ...body, provenance } }), 'leaf');
    assert.equal(await failureOf({ ledgerReceipt: undefined }), 'leaf');
  });

  it('at the inclusion, for a wrong proof, index or tree size', async () => {
    const [first = '', ...rest] = ledgerReceipt.proof;
    for (const changed of [
      { ...ledgerReceipt, proof: rest },
      { ...ledgerReceipt, proof: [...rest, first] },
      { ...ledgerReceipt, proof: [...ledgerReceipt.proof, first] },
      { ...ledgerReceipt, index: 3 },
      { ...ledgerReceipt, tree_size: 8 },
      { ...ledgerReceipt, tree_size: 6 },
      { ...ledgerReceipt, checkpoint: checkpointOver(6, new Uint8Array(32)) },
      { ...ledgerReceipt, checkpoint: checkpointOver(7, new Uint8Array(32)) },
      { ...ledgerReceipt, checkpoint: 'nothing' },
    ]) {
      assert.equal(await failureOf({ ledgerReceipt: changed }), 'inclusion', JSON.stringify(changed));
    }
  });

  it('at the checkpoint, for another signer or another origin', async () => {
    const root = Buffer.from(ledgerReceipt.checkpoint.split('\n')[2] ?? '', 'base64');
    const resigned = (of: Parameters<typeof checkpointOver>[2]) => ({
      ...ledgerReceipt,
      checkpoint: checkpointOver(7, root, of),
    });
    assert.equal(await failureOf({ ledgerReceipt: resigned({}) }), undefined);
    assert.equal(await failureOf({ ledgerReceipt: resigned({ key: testKey(9) }) }), 'checkpoint');
    assert.equal(await failureOf({ ledgerReceipt: resigned({ origin: 'evil.example/ledger' }) }), 'checkpoint');
    // Signed by the right name and key, but the text says another origin.
    const text = formatCheckpoint({ origin: 'strata.example/other', size: 7, root });
    const lying = signNote(text, [{ name: ORIGIN, ...LEDGER_KEY }]);
    assert.equal(await failureOf({ ledgerReceipt: { ...ledgerReceipt, checkpoint: lying } }), 'checkpoint');
    const elsewhere = { ...keySet, ledger: { ...keySet.ledger, origin: 'evil.example/ledger' } };
    assert.equal(await failureOf({ keySet: elsewhere }), 'checkpoint');
    assert.equal(await failureOf({ keySet: { keys: keySet.keys } }), 'checkpoint');
    const ledgerKey = formatVerifierKey(noteVerifier(ORIGIN, testKey(9).publicKey));
    for (const pinned of [ledgerKey, 'no key']) {
      assert.equal((await verifyAnswer(body, { keySet, ledgerReceipt, ledgerKey: pinned })).failedStep, 'checkpoint');
    }
  });

  it('outside the overlap of a rotation only', async () => {
    const keyAt = (not_after: Date) => ({
      ...keySet,
      keys: [{ ...keySet.keys[0], status: 'retired', not_after: not_after.toISOString() }],
    });
    assert.equal(await failureOf({ keySet: keyAt(new Date(NOW.getTime() - KEY_OVERLAP_MS)) }), undefined);
    assert.equal(await failureOf({ keySet: keyAt(new Date(NOW.getTime() - KEY_OVERLAP_MS - 1)) }), 'key');
  });
});

describe('every altered byte', () => {
  /** Every place in a text with one other character there. */
  const alteration = (text: string) =>
    fc.tuple(fc.nat({ max: text.length - 1 }), fc.integer({ min: 0x20, max: 0x7e })).map(([at, code]) => {
      return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
    });

  /** A single altered character is refused, or is another spelling of the very same value. */
  async function assertRefused(text: string, original: unknown, part: 'body' | 'ledgerReceipt'): Promise<void> {
    let value: unknown;
    try {
      value = parseStrictJson(text);
    } catch (error) {
      assert.ok(error instanceof AmbiguousJsonError);
      return;
    }
    if ((await failureOf({ [part]: value })) === undefined) assert.deepEqual(value, original);
  }

  for (const [part, original] of [
    ['body', body],
    ['ledgerReceipt', ledgerReceipt],
  ] as const) {
    const text = JSON.stringify(original);
    it(`of the ${part} is refused, place by place`, async () => {
      for (let at = 0; at < text.length; at++) {
        const other = text[at] === '1' ? '2' : '1';
        await assertRefused(text.slice(0, at) + other + text.slice(at + 1), original, part);
      }
    });
    it(`of the ${part} is refused, whatever it becomes`, async () => {
      await fc.assert(
        fc.asyncProperty(alteration(text), (altered) => assertRefused(altered, original, part)),
        { numRuns: 300 },
      );
    });
  }

  it('of the checkpoint is refused', async () => {
    const { checkpoint } = ledgerReceipt;
    for (let at = 0; at < checkpoint.length; at++) {
      for (const other of ['A', '\n', ' ']) {
        const altered = checkpoint.slice(0, at) + other + checkpoint.slice(at + 1);
        if (altered === checkpoint) continue;
        const step = await failureOf({ ledgerReceipt: { ...ledgerReceipt, checkpoint: altered } });
        assert.ok(step === 'inclusion' || step === 'checkpoint', `${at} ${step}`);
      }
    }
  });

  it('of a detached answer is refused', async () => {
    const content = bytesOf('domain,score\r\nexample.com,80\r\n');
    const contentType = 'text/csv; charset=utf-8';
    const options = { signer: RECEIPT_KEY, now: NOW, random: new Uint8Array(16), publicKeyUrl: fixture.PUBLIC_KEY_URL };
    const { provenance, leaf } = issueDetachedReceipt(content, contentType, options);
    const against = { keySet, ledgerReceipt: await fixture.ledgerReceiptOf([bytesOf('x'), leaf], 1) };
    const stepOf = async (answer: Parameters<typeof verifyDetachedAnswer>[0]) =>
      (await verifyDetachedAnswer(answer, against)).failedStep;
    assert.equal(await stepOf({ content, contentType, provenance }), undefined);
    assert.equal(await stepOf({ content, contentType: 'text/plain', provenance }), 'signature');
    assert.equal(await stepOf({ content, contentType, provenance: { ...provenance, key_id: 'x' } }), 'key');
    assert.equal(await stepOf({ content, contentType, provenance: undefined }), 'content');
    for (const at of content.keys()) {
      const altered = content.map((byte, other) => (at === other ? byte ^ 1 : byte));
      assert.equal(await stepOf({ content: altered, contentType, provenance }), 'signature');
    }
  });
});

describe('hostile documents', () => {
  const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true });

  it('fail a step and never throw, whatever their form', async () => {
    await fc.assert(
      fc.asyncProperty(anything, anything, anything, async (one, two, three) => {
        assert.equal(await failureOf({ body: one }), 'content');
        assert.equal(await failureOf({ keySet: two }), 'key');
        assert.equal(await failureOf({ ledgerReceipt: three }), 'leaf');
      }),
      { numRuns: 300 },
    );
  });

  it('fail with any one field of any type', async () => {
    const field = fc.constantFrom(...Object.keys(ledgerReceipt));
    await fc.assert(
      fc.asyncProperty(
        field,
        anything,
        fc.constantFrom(...Object.keys(body.provenance)),
        async (name, value, other) => {
          assert.ok(await failureOf({ ledgerReceipt: { ...ledgerReceipt, [name]: value } }));
          assert.ok(await failureOf({ body: { ...body, provenance: { ...body.provenance, [other]: value } } }));
          assert.equal(
            await failureOf({ keySet: { ...KEY_SET, ledger: { ...KEY_SET.ledger, verifier_keys: value } } }),
            'checkpoint',
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it('fail quickly however long their lists and texts are', async () => {
    const hash = ledgerReceipt.proof[0] ?? '';
    const long = 'A'.repeat(4_000_000);
    const { checkpoint } = ledgerReceipt;
    const signature = checkpoint.slice(checkpoint.indexOf('—'));
    assert.equal(
      await failureOf({ ledgerReceipt: { ...ledgerReceipt, proof: new Array(1_000_000).fill(hash) } }),
      'leaf',
    );
    assert.equal(await failureOf({ ledgerReceipt: { ...ledgerReceipt, proof: [long] } }), 'leaf');
    assert.equal(await failureOf({ ledgerReceipt: { ...ledgerReceipt, leaf: long } }), 'leaf');
    const manySignatures = { ...ledgerReceipt, checkpoint: checkpoint + signature.repeat(100_000) };
    assert.equal(await failureOf({ ledgerReceipt: manySignatures }), 'checkpoint');
    assert.equal(await failureOf({ keySet: { ...keySet, keys: new Array(1_000_000).fill({}) } }), 'key');
    const deep: unknown = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000));
    assert.equal(await failureOf({ body: { ...body, deep } }), 'content');
    assert.equal(await failureOf({ body: { ...body, domain: '\ud83d' } }), 'content');
  });
});

describe('issuing', () => {
  it('answers the same receipt for the same moment and randomness, and one that the ledger can keep', () => {
    const options = {
      signer: RECEIPT_KEY,
      now: NOW,
      random: new Uint8Array(16).fill(7),
      publicKeyUrl: fixture.PUBLIC_KEY_URL,
    };
    const issued = issueReceipt(fixture.PROFILE, options);
    assert.deepEqual(issued.body, body);
    assert.equal(Buffer.from(issued.leaf).toString('base64'), ledgerReceipt.leaf);
    assert.match(issued.receiptId, /^rwr_[0-9A-HJKMNP-TV-Z]{26}$/);
    assert.match(issued.ledgerReceiptId, /^cr_[a-z2-7]{32}$/);
    assert.deepEqual(Object.keys(JSON.parse(Buffer.from(issued.leaf).toString()) as object), [
      'content_sha256',
      'key_id',
      'receipt_id',
      'signature',
      'signed_at',
    ]);
    assert.throws(() => issueReceipt(issued.body, options), /has a receipt already/);
    assert.throws(() => issueReceipt({ a: undefined }, options), /not JSON/);
  });
});
