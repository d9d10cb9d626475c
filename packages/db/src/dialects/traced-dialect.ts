// A span for each transaction, from the wait for the lock to the end.
import { type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import type { DatabaseConnection, Dialect, Driver } from 'kysely';

const tracer = trace.getTracer('strata-store');

/** The same dialect; without tracing the spans do nothing. */
export function tracedDialect(dialect: Dialect, system: 'sqlite' | 'postgresql'): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => tracedDriver(dialect.createDriver(), system),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}

function tracedDriver(driver: Driver, system: string): Driver {
  const spans = new WeakMap<DatabaseConnection, Span>();
  const ended = async <T>(connection: DatabaseConnection, outcome: string, work: () => Promise<T>): Promise<T> => {
    const span = spans.get(connection);
    spans.delete(connection);
    try {
      const done = await work();
      span?.setAttribute('strata.outcome', outcome);
      return done;
    } catch (error) {
      // The message of a database error may contain values: only its class is recorded.
      span?.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
      throw error;
    } finally {
      span?.end();
    }
  };
  return {
    init: (options) => driver.init(options),
    acquireConnection: (options) => driver.acquireConnection(options),
    async beginTransaction(connection, settings) {
      const attributes = { 'db.system.name': system, 'strata.access': settings.accessMode ?? 'read write' };
      const span = tracer.startSpan('transaction', { attributes });
      try {
        await driver.beginTransaction(connection, settings);
        spans.set(connection, span);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
        span.end();
        throw error;
      }
    },
    commitTransaction: (connection) => ended(connection, 'committed', () => driver.commitTransaction(connection)),
    rollbackTransaction: (connection) => ended(connection, 'rolled back', () => driver.rollbackTransaction(connection)),
    releaseConnection: (connection, options) => driver.releaseConnection(connection, options),
    destroy: (options) => driver.destroy(options),
  };
}
