// The values of the posture's fields, as flags that must be set; `!` is before those that must not be.
import type { PostureFlag } from '@strata/detect';

type Flag = PostureFlag | `!${PostureFlag}`;
type Standard = 'mta_sts' | 'tls_rpt' | 'dnssec' | 'caa' | 'bimi';

const present = (standard: Standard): Readonly<Record<string, readonly Flag[]>> => ({
  yes: [standard],
  no: [`${standard}_measured`, `!${standard}`],
  unmeasured: [`!${standard}_measured`],
});

/** By field, then value. `missing`: measured, without a record. */
export const POSTURE_VALUES: Readonly<Record<string, Readonly<Record<string, readonly Flag[]>>>> = {
  spf: {
    valid: ['spf_valid'],
    permerror: ['spf_permerror'],
    fail: ['spf_fail'],
    softfail: ['spf_softfail'],
    neutral: ['spf_neutral'],
    pass: ['spf_pass'],
    missing: ['spf_measured', '!spf_valid', '!spf_permerror'],
    unmeasured: ['!spf_measured'],
  },
  dmarc: {
    valid: ['dmarc_valid'],
    none: ['dmarc_none'],
    quarantine: ['dmarc_quarantine'],
    reject: ['dmarc_reject'],
    reporting: ['dmarc_reporting'],
    missing: ['dmarc_measured', '!dmarc_valid'],
    unmeasured: ['!dmarc_measured'],
  },
  dmarc_effective: {
    none: ['dmarc_effective_none'],
    quarantine: ['dmarc_effective_quarantine'],
    reject: ['dmarc_effective_reject'],
  },
  mta_sts: present('mta_sts'),
  tls_rpt: present('tls_rpt'),
  dnssec: present('dnssec'),
  caa: present('caa'),
  bimi: present('bimi'),
  tls: {
    trusted: ['tls_trusted'],
    untrusted: ['tls_measured', '!tls_trusted'],
    expired: ['tls_expired'],
    unmeasured: ['!tls_measured'],
  },
};
