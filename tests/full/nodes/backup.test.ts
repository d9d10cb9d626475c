// Backups of a running service by the command: what is in them, which damage is found, and a service that continues from one.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { type Harness, sharedInternet, startHarness } from '../../../services/stack/src/test/index.ts';
import { type Busy, startBusy } from '../../support/busy-stack.ts';
import { repeatDuring, temporaryDirectory } from '../../support/index.ts';
import { contentOf } from '../../support/node-answers.ts';
import { fails, succeeds } from '../../support/strata-stack.ts';

let internet: Internet;

const manifestOf = (folder: string) => JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8'));

async function contentsOf(harness: Harness, domains: readonly string[]): Promise<unknown> {
  const contents = [];
  for (const each of [...domains.map((domain) => `domains/${domain}`), 'search?limit=20', 'stats/migrations']) {
    const { status, body } = await harness.get(`/stack/v1/${each}`);
    assert.equal(status, 200, each);
    contents.push(contentOf(body));
  }
  return contents;
}

/** As clients know it. */
async function ledgerKeyOf(harness: Harness): Promise<string> {
  const { ledger } = JSON.parse((await harness.ask('/.well-known/stack-keys.json')).text);
  return ledger.verifier_keys[0];
}

/** Where nothing is. */
async function empty() {
  const { path: directory, ...owned } = await temporaryDirectory();
  const data = path.join(directory, 'data');
  return { ...owned, data, env: { STRATA_DATA: data } };
}

it('a backup of a service at work holds every receipt that was given before it, and a service continues from it', async () => {
  internet = await sharedInternet();
  await using busy = await startBusy(internet);
  await using directory = await temporaryDirectory();
  const given = [...busy.receiptIds];
  const folder = path.join(directory.path, 'one');
  await repeatDuring(succeeds(['backup', folder, '--keys', `${folder}.keys`], busy.env), busy.step);
  const last = path.join(directory.path, 'last');
  const contents = await contentsOf(busy.harness, busy.domains);
  await succeeds(['backup', last], busy.env);
  for (const each of [folder, last])
    assert.match(await succeeds(['backup', '--verify', each], busy.env), /is complete/);

  {
    await using to = await empty();
    await succeeds(['restore', folder, '--keys', `${folder}.keys`], to.env);
    await using restored = await startHarness({ internet, settings: to.env, world: busy.world });
    for (const id of given) assert.equal((await restored.ask(`/ledger/receipts/${id}`)).status, 200, id);
    await restored.scan(busy.domains[0] ?? '');
    assert.equal((await restored.get(`/stack/v1/domains/${busy.domains[0]}`)).status, 200);
    // Both logs at the size of the backup are the same log.
    const { leaves } = manifestOf(folder).ledger;
    const tileOf = ({ running }: Harness) => running.app.ledger.log.read(`tile/0/000.p/${Math.min(leaves, 255)}`);
    assert.deepEqual(await tileOf(restored), await tileOf(busy.harness));
    assert.ok(restored.running.app.ledger.log.size > leaves);
  }
  await using to = await empty();
  await succeeds(['restore', last, '--ledger-key', await ledgerKeyOf(busy.harness)], to.env);
  await using restored = await startHarness({ internet, settings: to.env, world: busy.world });
  assert.deepEqual(await contentsOf(restored, busy.domains), contents);
});

describe('a backup', () => {
  let busy: Busy;
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
  let set: string;
  let trusted: readonly string[];
  before(async () => {
    internet = await sharedInternet();
    busy = await startBusy(internet);
    trusted = ['--ledger-key', await ledgerKeyOf(busy.harness)];
    directory = await temporaryDirectory();
    set = path.join(directory.path, 'set');
    await succeeds(['backup', set, '--keys', path.join(directory.path, 'keys')], busy.env);
  });
  after(async () => {
    await busy?.[Symbol.asyncDispose]();
    await directory?.[Symbol.asyncDispose]();
  });

  it('is readable only by its owner, and has no private key', async () => {
    assert.equal(statSync(set).mode & 0o077, 0);
    assert.equal(statSync(path.join(directory.path, 'keys')).mode & 0o777, 0o600);
    const names = readdirSync(set, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    assert.ok(names.length >= 5);
    const keys = JSON.parse(readFileSync(path.join(busy.harness.directory, 'keys/receipts/signing-keys.json'), 'utf8'));
    for (const { name, parentPath } of names)
      assert.ok(!readFileSync(path.join(parentPath, name)).includes(keys.keys[0].d), name);
  });

  it('is rejected if any file is altered or missing', { timeout: 300_000 }, async () => {
    const files: string[] = manifestOf(set).files.map((each: { readonly path: string }) => each.path);
    assert.deepEqual(files.sort(), ['ledger/checkpoint', 'ledger/leaves.gz', 'public-keys.json', 'strata.db']);
    for (const name of files) {
      const copy = path.join(directory.path, 'damaged');
      const spoil = async (how: (file: string) => Promise<void>) => {
        await cp(set, copy, { recursive: true });
        await how(path.join(copy, name));
        assert.match(await fails(['backup', '--verify', copy], busy.env), /^strata: .*damaged.*\n$/);
        await rm(copy, { recursive: true });
      };
      await spoil(async (file) => {
        const bytes = readFileSync(file);
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
        await writeFile(file, bytes);
      });
      await spoil((file) => rm(file));
      if (name === 'strata.db') await spoil((file) => truncate(file, 8_192));
    }
  });

  it('is refused with an added API key, even with an altered manifest', { timeout: 300_000 }, async () => {
    const copy = path.join(directory.path, 'altered');
    await cp(set, copy, { recursive: true });
    const manifest = manifestOf(copy);
    const store = path.join(copy, 'strata.db');
    {
      using database = new DatabaseSync(store);
      database.exec(`insert into api_keys (id, hash, tier, created_at) values ('added', 'ab', 'unlimited', 0)`);
    }
    manifest.store.tables.find(({ table }: { readonly table: string }) => table === 'api_keys').rows += 1;
    const part = manifest.files.find((file: { readonly path: string }) => file.path === 'strata.db');
    const bytes = readFileSync(store);
    Object.assign(part, { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    await writeFile(path.join(copy, 'manifest.json'), JSON.stringify(manifest));
    await using to = await empty();
    const refused = async (folder: string, message: RegExp) => {
      assert.match(await fails(['backup', '--verify', folder], busy.env), message);
      for (const options of [trusted, ['--keys', path.join(directory.path, 'keys')], []])
        assert.match(await fails(['restore', folder, ...options], to.env), message);
      assert.ok(!existsSync(to.data));
    };
    await refused(copy, /the backup was altered: its manifest does not match the signature/);
    await rm(path.join(copy, 'manifest.note'));
    await refused(copy, /the backup is not signed: .*--unverified accepts it/);
    await succeeds(['restore', copy, '--unverified'], to.env);
    // A writer of the backup folder can sign it with another key.
    const other = path.join(directory.path, 'other-key');
    await succeeds(['backup', other], to.env);
    await rm(to.data, { recursive: true });
    await refused(other, /signed by an unknown key, localhost\/strata\/stack\+\w{8}\+\S+/);
    assert.match(await succeeds(['backup', '--verify', other, '--unverified'], {}), /its signature was not verified/);
  });

  it('is refused without its manifest, and in a later format', async () => {
    const copy = path.join(directory.path, 'other');
    await cp(set, copy, { recursive: true });
    const manifest = path.join(copy, 'manifest.json');
    const text = readFileSync(manifest, 'utf8');
    for (const [changed, code, message] of [
      [text.replace('"version": 1', '"version": 2'), 1, /newer version/],
      [text.replace('"strata.db"', '"../strata.db"'), 1, /not the manifest/],
      ['{', 1, /not JSON/],
      [undefined, 2, /does not contain a complete backup/],
    ] as const) {
      if (changed === undefined) await rm(manifest);
      else await writeFile(manifest, changed);
      for (const command of [['backup', '--verify'], ['restore']]) {
        await using to = await empty();
        assert.match(await fails([...command, copy], to.env, code), message);
        assert.ok(!existsSync(to.data) || readdirSync(to.data).length === 0);
      }
    }
  });

  it('gets its name when it is complete: a kill leaves nothing that looks like a backup', async () => {
    const name = path.join(directory.path, 'killed');
    const unfinished = path.join(directory.path, '.killed.unfinished');
    await mkdir(path.join(unfinished, 'store'), { recursive: true });
    await writeFile(path.join(unfinished, 'strata.db'), 'half');
    await fails(['backup', '--verify', unfinished], busy.env, 2);
    await succeeds(['backup', name], busy.env);
    assert.ok(!existsSync(unfinished));
    assert.match(await fails(['backup', name], busy.env, 2), /already exists/);
    await succeeds(['backup', '--verify', name], busy.env);
  });

  it('is not made of a store and a ledger that are not of one service', async () => {
    await using to = await empty();
    const mixed = { ...to.env, STRATA_DATABASE_URL: `sqlite:${path.join(busy.harness.directory, 'strata.db')}` };
    const found = await fails(['backup', path.join(directory.path, 'mixed')], mixed);
    assert.match(found, /checkpoint covers \d+ leaves, there are 0: check that STRATA_DATA/);
    assert.ok(!existsSync(path.join(directory.path, 'mixed')));
    assert.ok(!existsSync(path.join(to.data, 'keys')));
  });

  it('of a service that was never started has the first keys, with which it is restored', async () => {
    await using from = await empty();
    await using to = await empty();
    const early = path.join(directory.path, 'early');
    await succeeds(['keys', 'create'], from.env);
    await succeeds(['backup', early, '--keys', `${early}.keys`], from.env);
    await succeeds(['restore', early, '--keys', `${early}.keys`], to.env);
    const keysIn = ({ data }: typeof from) => readFileSync(path.join(data, 'keys/ledger/signing-keys.json'));
    assert.deepEqual(keysIn(to), keysIn(from));
  });

  it('is not put over anything that is not to be replaced, nor under a running service, nor into the other database', async () => {
    assert.match(await fails(['restore', set], busy.env, 2), /already exists; use --replace/);
    assert.match(await fails(['restore', set, '--replace'], busy.env), /is held by process/);
    await using to = await empty();
    const other = { ...to.env, STRATA_DATABASE_URL: 'postgres://127.0.0.1:9/none' };
    assert.match(await fails(['restore', set, ...trusted], other, 2), /migrate-store/);
  });

  it('gives new keys where the private ones are not given, and old receipts hold', async () => {
    await using to = await empty();
    const answer = path.join(directory.path, 'answer.json');
    const { text } = await busy.harness.get(`/stack/v1/domains/${busy.domains[1]}`);
    await writeFile(answer, text);
    const later = path.join(directory.path, 'later');
    await succeeds(['backup', later], busy.env);
    assert.match(await succeeds(['restore', later, ...trusted], to.env), /created new signing keys/);
    await using restored = await startHarness({ internet, settings: to.env });
    await succeeds(['verify', answer, '--base', restored.base], {});
    const fresh = await restored.get(`/stack/v1/domains/${busy.domains[1]}`);
    assert.notEqual(fresh.body.provenance.key_id, JSON.parse(text).provenance.key_id);
    await writeFile(answer, fresh.text);
    await succeeds(['verify', answer, '--base', restored.base], {});
  });

  it('does not go on with a log that was published further, and keeps the newer', { timeout: 120_000 }, async () => {
    await using to = await empty();
    await succeeds(['restore', set, '--keys', path.join(directory.path, 'keys')], to.env);
    let published = '';
    {
      await using restored = await startHarness({ internet, settings: to.env });
      for (const domain of busy.domains.slice(0, 3)) await restored.get(`/stack/v1/domains/${domain}`);
      published = (await restored.ask('/ledger/checkpoint')).text;
    }
    const refused = await fails(['restore', set, '--replace'], to.env);
    assert.match(refused, /continuing from the backup would fork the ledger/);
    assert.match(refused, /--keep-ledger keeps the newer ledger/);
    const ledger = path.join(to.data, 'ledger');
    await rename(ledger, `${ledger}.lost`);
    assert.match(await fails(['restore', set, '--replace'], to.env), /would fork the ledger/, 'the store knows it too');
    await rename(`${ledger}.lost`, ledger);
    assert.match(await succeeds(['restore', set, '--replace', '--keep-ledger'], to.env), /strata\.db\.replaced-/);
    {
      await using restored = await startHarness({ internet, settings: to.env });
      const [, size] = published.split('\n');
      assert.ok(restored.running.app.ledger.log.size >= Number(size));
    }
  });
});
