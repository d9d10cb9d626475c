// Identifies a parsed JSON file by the few fields that distinguish the publishers' documents.

/** `nvd`: a page or file of records; `cve-delta`: the list of changes of the CVE List, without records. */
type DocumentKind = 'nvd' | 'cve-record' | 'kev' | 'osv' | 'cve-delta' | 'unknown';

/** Checks only the outermost fields: a document of a kind may still be invalid. */
export function recognise(value: unknown): DocumentKind {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'unknown';
  const field = (name: string): unknown => (Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined);
  if (field('dataType') === 'CVE_RECORD') return 'cve-record';
  if (Array.isArray(field('vulnerabilities'))) {
    if (field('format') === 'NVD_CVE') return 'nvd';
    return typeof field('catalogVersion') === 'string' ? 'kev' : 'unknown';
  }
  if (typeof field('id') === 'string' && typeof field('modified') === 'string') return 'osv';
  const isDelta =
    typeof field('fetchTime') === 'string' && Array.isArray(field('new')) && Array.isArray(field('updated'));
  return isDelta ? 'cve-delta' : 'unknown';
}
