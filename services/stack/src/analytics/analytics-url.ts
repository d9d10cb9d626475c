// The setting of the engine of sets and history: ClickHouse on a server or in this process.
import { z } from 'zod';

const FORMS = 'must be https://user:password@host:8443/database, with ?cluster=name for a cluster, or chdb:folder';

/** An invalid value may contain a password: it is not repeated in the message. */
export const AnalyticsUrl = z.string().refine(isAnalyticsUrl, FORMS);

function isAnalyticsUrl(text: string): boolean {
  if (text.startsWith('chdb:')) return text.length > 'chdb:'.length;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.hash !== '') return false;
  const names = [...url.searchParams.keys()];
  const isNamed = /^\w+$/.test(url.searchParams.get('cluster') ?? 'none');
  return isNamed && names.length <= 1 && names.every((name) => name === 'cluster');
}
