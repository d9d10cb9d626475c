// The systemd units: commands and settings that there are, and systemd's own judgement where it is installed.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { assertSettings, root, serviceOf } from '../../support/deployed.ts';

const here = path.join(root, 'deploy/systemd');
const units = readdirSync(here).filter((name) => name.endsWith('.service'));
const textOf = (unit: string) => readFileSync(path.join(here, unit), 'utf8');
/** Every value of a key, in order. */
const valuesOf = (unit: string, key: string) =>
  [...textOf(unit).matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

const analyze = (...args: string[]) => execFileSync('systemd-analyze', args, { encoding: 'utf8', stdio: 'pipe' });
const notice = hasAnalyze() ? false : 'systemd-analyze is not installed';

function hasAnalyze(): boolean {
  try {
    analyze('--version');
    return true;
  } catch {
    return false;
  }
}

describe('the units', () => {
  it('are of every service, and of the roles of the stack service', () => {
    assert.deepEqual(units.sort(), [
      'strata-gateway.service',
      'strata-stack.service',
      'strata-stack@.service',
      'strata-worker.service',
    ]);
  });

  for (const unit of units)
    it(`${unit} runs a command that there is, with settings that there are, and few rights`, async () => {
      const [program, main, ...args] = (valuesOf(unit, 'ExecStart')[0] ?? '').split(' ');
      assert.deepEqual([program, main], ['/opt/strata/node_modules/.bin/node', '/opt/strata/services/cli/src/main.ts']);
      const pairs = valuesOf(unit, 'Environment').flatMap((line) =>
        line.split(' ').map((pair) => pair.split('=') as [string, string]),
      );
      const env = Object.fromEntries(pairs.map(([name, value]) => [name, value.replaceAll('%i', 'api')]));
      await assertSettings(await serviceOf(args), env);
      // What it is given to read is what it is told to read.
      for (const [name, value] of pairs)
        if (name.endsWith('_FILE'))
          assert.ok(
            valuesOf(unit, 'LoadCredential').some((line) => line.startsWith(`${value.replace('%d/', '')}:`)),
            name,
          );
      assert.equal(`/var/lib/${valuesOf(unit, 'StateDirectory')[0]}`, new Map(pairs).get('STRATA_DATA'));
      for (const [key, value] of Object.entries({
        DynamicUser: 'yes',
        NoNewPrivileges: 'yes',
        ProtectSystem: 'strict',
        CapabilityBoundingSet: '',
      }))
        assert.deepEqual(valuesOf(unit, key), [value], key);
      assert.ok(valuesOf(unit, 'SystemCallFilter').includes('@system-service'));
    });

  it('are what systemd understands', { skip: notice }, () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'strata-units-'));
    try {
      // Where the program is here.
      for (const unit of units)
        writeFileSync(
          path.join(directory, unit),
          textOf(unit)
            .replaceAll('/opt/strata/node_modules/.bin/node', process.execPath)
            .replaceAll('/opt/strata', root),
        );
      analyze('verify', '--man=no', ...units.map((unit) => path.join(directory, unit)));
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('expose little, as systemd counts it: 1.5 of 10 at most', { skip: notice }, () => {
    for (const unit of units) analyze('security', '--offline=true', '--threshold=15', path.join(here, unit));
  });
});
