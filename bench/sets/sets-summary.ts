// The summary of a loaded domain: what detection says of evidence that has just the posture of its bits.
import {
  detect,
  type Evidence,
  evidenceFromRecord,
  type Lookup,
  packPosture,
  postureBit,
  type Rulebook,
  shortenPosture,
} from '@strata/detect';

/** One summary for each posture that occurs. Throws where detection finds other bits or another score than were loaded. */
export function summaries(rulebook: Rulebook): (posture: number, score: number) => string {
  const known = new Map<number, { readonly text: string; readonly score: number | null }>();
  return (posture, score) => {
    let summary = known.get(posture);
    if (!summary) {
      const { security, roles, sources, redirectsTo } = detect(evidenceOf(posture), rulebook);
      const found = packPosture(security);
      if (found !== posture) throw new Error(`posture ${posture.toString(2)} reads as ${found.toString(2)}`);
      summary = {
        text: JSON.stringify({ security: shortenPosture(security), roles, sources, redirectsTo }),
        score: security.score,
      };
      known.set(posture, summary);
    }
    if (summary.score !== score)
      throw new Error(`posture ${posture.toString(2)} scores ${summary.score}, not ${score}`);
    return summary.text;
  };
}

function evidenceOf(posture: number): Evidence {
  const has = (flag: Parameters<typeof postureBit>[0]) => (posture & postureBit(flag)) !== 0;
  const text = (isThere: boolean, record: string): Lookup<string> => ({
    status: isThere ? 'found' : 'empty',
    records: isThere ? [record] : [],
    aliases: [],
  });
  const policy = has('dmarc_reject') ? 'reject' : has('dmarc_quarantine') ? 'quarantine' : 'none';
  const reporting = has('dmarc_reporting') ? '; rua=mailto:dmarc@example.com' : '';
  const evidence = evidenceFromRecord({
    domain: 'example.com',
    ns: ['ns1.example.net'],
    mx: [{ preference: 10, exchange: 'mx.example.net' }],
    txt: has('spf_valid') ? [`v=spf1 ip4:192.0.2.0/24 ${has('spf_fail') ? '-all' : '~all'}`] : [],
    caa: has('caa') ? ['0 issue "ca.example"'] : [],
    tls_issuer: 'Example CA',
  });
  // The loaded world's scores take an MTA-STS record for one whose policy is being tested.
  const stsPolicy = 'version: STSv1\nmode: testing\nmx: mx.example.net\nmax_age: 604800\n';
  const skipped = { status: 'skipped', statusCode: null, contentType: null, text: '' } as const;
  return {
    ...evidence,
    files: {
      mtaSts: has('mta_sts')
        ? { status: 'found', statusCode: 200, contentType: 'text/plain', text: stsPolicy }
        : skipped,
      securityTxt: skipped,
    },
    dns: {
      ...evidence.dns,
      a: { status: 'found', records: ['192.0.2.1'], aliases: [] },
      ds: has('dnssec')
        ? {
            status: 'found',
            records: [{ keyTag: 1, algorithm: 13, digestType: 2, digest: '00'.repeat(32) }],
            aliases: [],
          }
        : { status: 'empty', records: [], aliases: [] },
      dmarc: text(has('dmarc_valid'), `v=DMARC1; p=${policy}${reporting}`),
      mtaSts: text(has('mta_sts'), 'v=STSv1; id=1'),
      tlsRpt: text(has('tls_rpt'), 'v=TLSRPTv1; rua=mailto:tls@example.com'),
      bimi: text(has('bimi'), 'v=BIMI1; l=https://example.com/logo.svg'),
    },
    tls: {
      ...evidence.tls,
      names: ['example.com'],
      protocol: 'TLSv1.3',
      isTrusted: has('tls_trusted'),
      problem: has('tls_trusted') ? null : 'DEPTH_ZERO_SELF_SIGNED_CERT',
    },
  };
}
