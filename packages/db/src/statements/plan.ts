// Queries built and compiled once: for the queries of every scan, building costs more than running.
import type { Compilable, CompiledQuery } from 'kysely';

/** Returns the compiled query with these values as parameters. */
export type Plan<Values, Row> = (values: Values) => CompiledQuery<Row>;

class Slot {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * `build` gets a placeholder for each value. It must build the same query for all values: no lists, and no nulls compared
 * with `=`.
 */
export function plan<Values extends object, Row>(build: (slots: Values) => Compilable<Row>): Plan<Values, Row> {
  // Kysely treats placeholders as values, so they become parameters of the compiled query.
  const slots = new Proxy({} as Values, { get: (_, name) => new Slot(name) });
  let compiled: CompiledQuery<Row> | undefined;
  return (values) => {
    compiled ??= build(slots).compile();
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Slot ? values[parameter.name as keyof Values] : parameter,
    );
    return { ...compiled, parameters };
  };
}
