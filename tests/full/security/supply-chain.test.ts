// Installed packages: each is the locked one, runs no install script unless allowed, has a permissive license, and is in the bill of
// materials.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';

const root = path.join(import.meta.dirname, '../../..');

type Flags = Partial<Record<'link' | 'hasInstallScript' | 'dev', boolean>>;
type Locked = { version: string } & Partial<Record<'name' | 'resolved' | 'integrity' | 'license', string>> & Flags;

type Component = Readonly<Record<'bom-ref' | 'type' | 'purl', string>> & {
  readonly hashes?: readonly object[];
  readonly licenses?: readonly object[];
};

type Bom = Readonly<Record<'bomFormat' | 'specVersion' | 'serialNumber', string>> & {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
};

const EXACT = /^(?:\d+\.\d+\.\d+(?:-[\w.]+)?|\*|npm:.+@\d+\.\d+\.\d+)$/;
const json = <T>(file: string): T => JSON.parse(readFileSync(path.join(root, file), 'utf8')) as T;
const fromRegistry = (lock: { readonly packages: Readonly<Record<string, Locked>> }) =>
  Object.entries(lock.packages)
    .filter(([folder, { link }]) => folder.includes('node_modules/') && !link)
    .map(([folder, locked]) => ({ ...locked, folder, name: locked.name ?? folder.replace(/^.*node_modules\//, '') }));

const locked = fromRegistry(json('package-lock.json'));

/** Each may be used, changed and sold by anyone who keeps its notice, or not even that. */
const PERMISSIVE = '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT MIT-0 Unlicense'.split(' ');

it('the lock file says of every package which bytes it is, and takes none from anywhere but a registry', () => {
  assert.ok(locked.length > 500);
  for (const { folder, integrity = '', resolved } of locked) {
    assert.match(integrity, /^sha512-[A-Za-z0-9+/]{86}==$/, folder);
    assert.ok(resolved === undefined || resolved.startsWith('https://'), `${folder} comes from ${resolved}`);
  }
});

it('the lock file has no version that is not fixed in package.json', () => {
  const workspaces = Object.keys(json<{ packages: Record<string, Locked> }>('package-lock.json').packages);
  for (const folder of workspaces.filter((each) => !each.includes('node_modules/'))) {
    const manifest = json<Record<string, Record<string, string> | undefined>>(path.join(folder, 'package.json'));
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'])
      for (const [name, version] of Object.entries(manifest[kind] ?? {}))
        assert.match(version, EXACT, `${folder}: ${name} ${version}`);
  }
});

it('the lock file has a script that runs at install only where package.json has decided on it', () => {
  const { allowScripts } = json<{ allowScripts: Record<string, boolean> }>('package.json');
  const scripted = locked.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name);
  assert.deepEqual([...new Set(scripted)].sort(), Object.keys(allowScripts).sort());
  const used = locked.filter(({ name, dev }) => allowScripts[name] && !dev).map(({ name }) => name);
  assert.deepEqual(used, [], 'none of these runs in production');
});

const permits = (licence: string): boolean => {
  const either = licence.replaceAll(/[()]/g, '').split(' OR ');
  return either.some((each) => each.split(' AND ').every((name) => PERMISSIVE.includes(name.trim())));
};

it('licences of everything that production uses are permissive', () => {
  for (const { folder, license = 'none', dev } of locked)
    if (!dev) assert.ok(permits(license), `${folder}: ${license}`);
});

it('licences that are not permissive are distinguished', () => {
  const not = ['GPL-3.0', 'MIT AND GPL-3.0', 'SEE LICENSE IN X', 'none'];
  const permissive = ['MIT', '(MIT OR GPL-3.0)', 'Apache-2.0 AND MIT'];
  assert.deepEqual([...permissive, ...not].filter(permits), permissive);
});

it('npm run sbom lists what is installed, each with its version, hash and licence, in CycloneDX', {
  timeout: 120_000,
}, async (t) => {
  if (!existsSync(path.join(root, 'node_modules/.package-lock.json'))) return t.skip('npm has not installed here');
  const options = { cwd: root, maxBuffer: 64 * 2 ** 20 };
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], options);
  const bom = JSON.parse(stdout) as Bom;
  assert.deepEqual([bom.bomFormat, bom.metadata.component.type], ['CycloneDX', 'application']);
  assert.match(bom.specVersion, /^1\.\d$/);
  assert.match(bom.serialNumber, /^urn:uuid:[0-9a-f-]{36}$/);
  assert.match(bom.metadata.component.purl, /^pkg:npm\/strata@/);
  const refs = new Set([bom.metadata.component, ...bom.components].map((component) => component['bom-ref']));
  assert.equal(refs.size, bom.components.length + 1, 'every component is named once');
  for (const { ref, dependsOn = [] } of bom.dependencies)
    for (const each of [ref, ...dependsOn]) assert.ok(refs.has(each), `${each} is no component`);

  const installed = fromRegistry(json('node_modules/.package-lock.json'));
  const byPurl = new Map(bom.components.map((component) => [component.purl, component]));
  for (const { name, version, integrity, license } of installed) {
    const component = byPurl.get(`pkg:npm/${name.replace('@', '%40')}@${version}`);
    assert.ok(component, `${name} ${version} is missing`);
    if (license !== undefined) assert.equal(component.licenses?.length, 1, name);
    const expected = integrity && Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
    if (expected) assert.deepEqual(component.hashes, [{ alg: 'SHA-512', content: expected }], name);
  }
});
