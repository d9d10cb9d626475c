// Well-known published vulnerabilities, as facts.
import type { VulnerabilityFacts } from '../facts.ts';
import { applications } from './applications.ts';
import { furtherProducts, malformed } from './further-products.ts';
import { servers } from './servers.ts';

export const knownVulnerabilities: readonly VulnerabilityFacts[] = [
  ...servers,
  ...applications,
  ...furtherProducts,
  ...malformed,
];
