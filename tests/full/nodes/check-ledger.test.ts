// `strata stack check-store` and the ledger: sound ones pass, beside who appends; each kind of damage is found, in a folder and in a database.
import assert from 'node:assert/strict';
import { readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { issueReceipt } from '@strata/receipts';
import { readConfig } from '@strata/stack';
import { openStore } from '@strata/stack/store';
import { checkLedger } from '../../../services/cli/src/commands/store/check-ledger.ts';
import { runStrata } from '../../../services/cli/src/test/run-strata.ts';
import { openLedger } from '../../../services/stack/src/ledger/ledger.ts';
import { exec, postgres } from '../../../services/stack/src/store/test/backends.ts';
import { altered } from '../../support/shared-log/database.ts';
import { succeeds } from '../../support/strata-stack.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** More than two tiles, so that there is a subtree to spoil. */
const LEAVES = 600;

type Env = { readonly STRATA_DATA: string; readonly STRATA_DATABASE_URL?: string };

/** A store with a ledger of so many receipts; returns the last one. */
async function fill(env: Env, beside: () => Promise<void> = async () => {}, leaves = LEAVES): Promise<void> {
  const config = readConfig(env);
  await using store = await openStore(config.databaseUrl);
  const { dataDirectory, ledgerOrigin: origin } = config;
  await using ledger = await openLedger({ dataDirectory, origin, now: () => new Date(), store });
  const issued = Array.from({ length: leaves }, (_, number) => issueReceipt({ number }, ledger.issuing()));
  await Promise.all(issued.map(({ leaf }) => ledger.log.append(leaf)));
  await store.stream.begin(0, 1);
  const event = { type: 'migration', domain: null, providers: [], category: null } as const;
  const body = JSON.stringify(issued.at(-1)?.body);
  await store.stream.append([{ ...event, publishedUs: 1, body }], { from: 0, to: 1 });
  await beside();
}

const findingsOf = async (env: Env) => (await checkLedger(readConfig(env))).findings.map(({ what }) => what);
const assertFound = async (env: Env, expected: RegExp, why?: string) =>
  assert.match(String(await findingsOf(env)), expected, why);
const UNKNOWN = `insert into stream_events (seq, published_us, type, providers, body)
  select max(seq) + 1, 99, 'migration', '[]', '{"ledger_receipt_id":"cr_${'a'.repeat(32)}"}' from stream_events`;

describe('a ledger in a folder', () => {
  it('passes while it is written to, and what is damaged is found', async () => {
    await using directory = await temporaryDirectory();
    const env = { STRATA_DATA: directory.path };
    await fill(env, async () => assert.deepEqual(await findingsOf(env), []));
    assert.match(await succeeds(['check-store'], env), new RegExp(`ledger of ${LEAVES} leaves`));

    const journal = path.join(directory.path, 'ledger/journal', '0'.repeat(16));
    const intact = await readFile(journal);
    const spoilt = Buffer.from(intact);
    spoilt[1_000] = (spoilt[1_000] ?? 0) ^ 1;
    await writeFile(journal, spoilt);
    await assertFound(env, /^The ledger: (?:.*damaged at byte|the checkpoint covers 600 leaves, there are \d+)/);
    await writeFile(journal, intact);

    const checkpoint = path.join(directory.path, 'ledger/checkpoint');
    const note = await readFile(checkpoint, 'utf8');
    await writeFile(checkpoint, note.replace(`\n${LEAVES}\n`, `\n${LEAVES - 1}\n`));
    await assertFound(env, /^The ledger: the checkpoint is not signed by a key of this directory/);
    await rm(checkpoint);
    assert.deepEqual(await findingsOf(env), [], 'the store keeps another');
    await truncate(journal, 9_000);
    await assertFound(env, /^The ledger: the checkpoint covers 600 leaves, there are \d+/);
    const lost = {
      code: 'lost-leaves',
      message: /^the checkpoint in the database covers 600 leaves, the disk holds \d+/,
    };
    await assert.rejects(fill(env), lost);
    await writeFile(journal, intact);
    await writeFile(checkpoint, note);

    assert.deepEqual(await findingsOf(env), []);
    const folder = path.join(directory.path, 'ledger');
    await rename(folder, `${folder}.away`);
    await assertFound(env, /^The ledger: the checkpoint covers 600 leaves, there are 0/, 'all of it is lost');
    await rename(`${folder}.away`, folder);
    await exec(`sqlite:${path.join(directory.path, 'strata.db')}`, UNKNOWN);
    await assertFound(env, /^The ledger does not have 1 of the 2 latest receipts .* cr_a{32}/);
  });
});

describe('a ledger in tiles', () => {
  it('is found damaged, with the name of the tile', async () => {
    await using directory = await temporaryDirectory();
    const env = { STRATA_DATA: directory.path };
    await fill(env, undefined, 4_100);
    assert.deepEqual(await findingsOf(env), []);
    const damaged: readonly (readonly [string, (bytes: Buffer) => Buffer, RegExp])[] = [
      ['entries/003', (bytes) => bytes.subarray(0, -9), /tile\/entries\/003 does not hold 256 entries/],
      ['entries/003', flipped, /tile\/0\/003 does not match .+ or ledger\/tile\/entries\/003 is damaged/],
      ['0/007', flipped, /tile\/0\/007 does not match the hashes of its leaves/],
    ];
    for (const [tile, damage, expected] of damaged) {
      const file = path.join(directory.path, 'ledger/tile', tile);
      const intact = await readFile(file);
      await writeFile(file, damage(intact));
      await assertFound(env, expected);
      await writeFile(file, intact);
    }
    await rename(path.join(directory.path, 'ledger/tile/entries/003'), path.join(directory.path, 'aside'));
    await assertFound(env, /tile\/entries\/003 is missing/);
  });
});

const flipped = (bytes: Buffer): Buffer => bytes.map((byte, at) => (at === 100 ? byte ^ 1 : byte)) as Buffer;

describe('a ledger in PostgreSQL', { skip: postgres.skip }, () => {
  it('passes while it is written to, and each kind of damage is found', async () => {
    await using directory = await temporaryDirectory();
    const url = await postgres.fresh();
    const env = { STRATA_DATA: directory.path, STRATA_DATABASE_URL: url };
    await fill(env, async () => assert.deepEqual(await findingsOf(env), []));
    for (const [damage, expected] of [
      [
        "update ledger_leaves set leaf = leaf || 'x'::bytea where leaf_index = 300",
        /tile\/0\/001: the hashes from leaf 256 on do not match/,
      ],
      [
        "update ledger_leaves set hash = sha256('other') where leaf_index = 599",
        /hashes from leaf 512 on do not match/,
      ],
      ['delete from ledger_leaves where leaf_index = 10', /leaves from 0 on are missing/],
      [
        "update ledger_subtrees set hash = sha256('other') where subtree_index = 1",
        /the hash of subtree 1\/1 does not match/,
      ],
      ["update ledger_head set root = sha256('other')", /the head of the log in the database does not match its c/],
      ["update ledger_head set note = replace(note, '600', '601')", /the checkpoint of the log .* was altered/],
      ["update ledger_head set origin = 'other.example/log'", /the database holds the log other\.example/],
      [UNKNOWN, /does not have 1 of the 2 latest receipts/],
      ['delete from ledger_head', /the checkpoint covers 600 leaves, there are 0/],
    ] as const) {
      const tables = ['ledger_leaves', 'ledger_subtrees', 'ledger_head', 'stream_events'];
      await using _altered = await altered(url, tables, damage);
      await assertFound(env, expected, damage);
    }
    assert.deepEqual(await findingsOf(env), []);
    await exec(url, "update ledger_leaves set leaf = leaf || 'x'::bytea where leaf_index = 300");
    const failed = await runStrata(['stack', 'check-store'], { env });
    assert.equal(failed.code, 1, failed.stdout + failed.stderr);
    assert.match(
      failed.stdout,
      /The ledger: tile\/0\/001: the hashes from leaf 256 on .*\n {2}Do not change the database/,
    );
  });

  it('is nothing to find fault with before its first leaf', async () => {
    await using directory = await temporaryDirectory();
    const url = await postgres.fresh();
    await (await openStore(url))[Symbol.asyncDispose]();
    assert.deepEqual(await findingsOf({ STRATA_DATA: directory.path, STRATA_DATABASE_URL: url }), []);
  });

  it('is not judged without the keys that signed it', async () => {
    await using directory = await temporaryDirectory();
    await using other = await temporaryDirectory();
    const url = await postgres.fresh();
    await fill({ STRATA_DATA: directory.path, STRATA_DATABASE_URL: url });
    const found = await checkLedger(readConfig({ STRATA_DATA: other.path, STRATA_DATABASE_URL: url }));
    assert.match(found.findings[0]?.advice ?? '', /Run this with the newest keys folder/);
  });
});
