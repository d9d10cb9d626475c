// Queries built and compiled once: for the few that run with every scan, building costs more than running them.
import type { Compilable, CompiledQuery } from 'kysely';

/** Gives the query with these values in the places where it was built with their slots. */
export type Plan<Values, Row> = (values: Values) => CompiledQuery<Row>;

class Slot {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * `build` gets a stand-in for each value and puts it where the value belongs. It must give the same query for any value:
 * no lists, no nulls compared with `=`.
 */
export function plan<Values extends object, Row>(build: (slots: Values) => Compilable<Row>): Plan<Values, Row> {
  // The stand-ins pass through Kysely as values do, and come out as the parameters of the compiled query.
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
