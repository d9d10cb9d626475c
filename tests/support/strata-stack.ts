// `strata stack …` in this process, with the exit code that a test expects.
import assert from 'node:assert/strict';
import { runStrata } from '../../services/cli/src/test/run-strata.ts';

type Env = Readonly<Record<string, string>>;

/** What it prints. @throws where it does not end with 0. */
export async function succeeds(args: readonly string[], env: Env): Promise<string> {
  const { code, stdout, stderr } = await runStrata(['stack', ...args], { env });
  assert.equal(code, 0, stdout + stderr);
  return stdout;
}

/** What it prints as its error. @throws where it ends with another code. */
export async function fails(args: readonly string[], env: Env, expected = 1): Promise<string> {
  const { code, stdout, stderr } = await runStrata(['stack', ...args], { env });
  assert.equal(code, expected, stdout + stderr);
  return stderr;
}

/** The signing keys of the stack service here, as `strata doctor` reports them: `ok: …`, `problem: …`. */
export async function doctorOnKeys(env: Env): Promise<string> {
  const { stdout } = await runStrata(['doctor', '--service', 'stack', '--json'], { env });
  const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string; found: string }[] };
  const { status, found } = findings.find(({ check }) => check === 'signing keys (stack)') ?? {};
  return `${status}: ${found}`;
}
