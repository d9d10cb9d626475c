// Settings from the environment: what a table of variables takes, and one sentence for all that it does not.
import type { z } from 'zod';

/** Values without blanks around them; empty ones count as absent, and other variables are passed over. Throws what `refusal` makes. */
export function readEnvironment<Table extends z.ZodObject>(
  table: Table,
  env: Readonly<Record<string, string | undefined>>,
  refusal: (problems: string) => Error,
): z.output<Table> {
  const given = Object.fromEntries(
    Object.keys(table.shape).flatMap((name) => {
      const value = env[name]?.trim();
      return value ? [[name, value]] : [];
    }),
  );
  const parsed = table.safeParse(given);
  if (parsed.success) return parsed.data;
  throw refusal(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
}
