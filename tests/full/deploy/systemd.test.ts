// The systemd units: commands and settings that there are, and systemd's own judgement where it is installed.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { assertSettings, root, serviceOf } from '../../support/deployed.ts';

const here = path.join(root, 'deploy/systemd');
const units = readdirSync(here).filter((name) => name.endsWith('.service'));
const textOf = (unit: string) => readFileSync(path.join(here, unit), 'utf8');
const valuesOf = (unit: string, key: string) =>
  [...textOf(unit).matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

const analyze = (...args: string[]) => execFileSync('systemd-analyze', args, { encoding: 'utf8', stdio: 'pipe' });
const notice = spawnSync('systemd-analyze', ['--version']).status === 0 ? false : 'systemd-analyze is not installed';

it('the units are of every service, and of the roles of the stack service', () => {
  const names = ['strata-gateway', 'strata-stack', 'strata-stack@', 'strata-worker'];
  assert.deepEqual(units.sort().join(), names.map((name) => `${name}.service`).join());
});

for (const unit of units)
  it(`the unit ${unit} runs a command that there is, with settings that there are, and few rights`, async () => {
    const [program, main, ...args] = (valuesOf(unit, 'ExecStart')[0] ?? '').split(' ');
    assert.deepEqual([program, main], ['/opt/strata/node_modules/.bin/node', '/opt/strata/services/cli/src/main.ts']);
    const pairs = valuesOf(unit, 'Environment').flatMap((line) =>
      line.split(' ').map((pair) => pair.split('=') as [string, string]),
    );
    const env = Object.fromEntries(pairs.map(([name, value]) => [name, value.replaceAll('%i', 'api')]));
    await assertSettings(await serviceOf(args), env);
    // The files that the unit grants are the files that the settings name.
    const credentials = valuesOf(unit, 'LoadCredential').map((line) => line.split(':')[0]);
    for (const [name, value] of pairs.filter(([name]) => name.endsWith('_FILE')))
      assert.ok(credentials.includes(value.replace('%d/', '')), name);
    assert.equal(`/var/lib/${valuesOf(unit, 'StateDirectory')[0]}`, new Map(pairs).get('STRATA_DATA'));
    const rights = { DynamicUser: 'yes', NoNewPrivileges: 'yes', ProtectSystem: 'strict', CapabilityBoundingSet: '' };
    for (const [key, value] of Object.entries(rights)) assert.deepEqual(valuesOf(unit, key), [value], key);
    assert.ok(valuesOf(unit, 'SystemCallFilter').includes('@system-service'));
  });
it('the units are what systemd understands', { skip: notice }, () => {
  using directory = mkdtempDisposableSync(path.join(tmpdir(), 'strata-units-'));
  const localOf = (text: string) =>
    text.replaceAll('/opt/strata/node_modules/.bin/node', process.execPath).replaceAll('/opt/strata', root);
  const files = units.map((unit) => path.join(directory.path, unit));
  for (const [i, unit] of units.entries()) writeFileSync(files[i] ?? '', localOf(textOf(unit)));
  analyze('verify', '--man=no', ...files);
});
it('the units expose little, as systemd counts it: 1.5 of 10 at most', { skip: notice }, () => {
  for (const unit of units) analyze('security', '--offline=true', '--threshold=15', path.join(here, unit));
});
