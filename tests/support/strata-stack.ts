// `strata stack …` in this process, with the exit code that a test expects.
import { assertEnds, runStrata, succeed } from '../../services/cli/src/test/run-strata.ts';

type Env = Readonly<Record<string, string>>;

/** What it prints. @throws where it does not end with 0. */
export const succeeds = async (args: string[], env: Env) => (await succeed(['stack', ...args], { env })).stdout;

/** What it prints as its error, without a stack. @throws where it ends with another code. */
export const fails = async (args: readonly string[], env: Env, expected = 1) =>
  (await assertEnds(['stack', ...args], expected, /(?:)/, { env })).stderr;

/** The signing keys of the stack service here, as `strata doctor` reports them: `ok: …`, `problem: …`. */
export async function doctorOnKeys(env: Env): Promise<string> {
  const { stdout } = await runStrata(['doctor', '--service', 'stack', '--json'], { env });
  const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string; found: string }[] };
  const { status, found } = findings.find(({ check }) => check === 'signing keys (stack)') ?? {};
  return `${status}: ${found}`;
}
