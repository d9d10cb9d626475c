// Certificate authorities: the issuer's organisation, its intermediate's name, and the CAA value that permits it.

export interface AuthorityTemplate {
  readonly id: string;
  readonly weight: number;
  readonly organisation: string;
  readonly commonName: string;
  readonly country: string;
  readonly caa: string | null;
}

export const authorities: readonly AuthorityTemplate[] = [
  {
    id: 'lets-encrypt',
    weight: 55,
    organisation: "Let's Encrypt",
    commonName: 'E6',
    country: 'US',
    caa: 'letsencrypt.org',
  },
  {
    id: 'google-trust-services',
    weight: 14,
    organisation: 'Google Trust Services',
    commonName: 'WE1',
    country: 'US',
    caa: 'pki.goog',
  },
  {
    id: 'digicert',
    weight: 9,
    organisation: 'DigiCert Inc',
    commonName: 'DigiCert Global G2 TLS RSA SHA256 2020 CA1',
    country: 'US',
    caa: 'digicert.com',
  },
  {
    id: 'sectigo',
    weight: 8,
    organisation: 'Sectigo Limited',
    commonName: 'Sectigo ECC Domain Validation Secure Server CA',
    country: 'GB',
    caa: 'sectigo.com',
  },
  {
    id: 'amazon-certificate',
    weight: 8,
    organisation: 'Amazon',
    commonName: 'Amazon RSA 2048 M02',
    country: 'US',
    caa: 'amazon.com',
  },
  {
    id: 'godaddy-ca',
    weight: 4,
    organisation: 'GoDaddy.com, Inc.',
    commonName: 'Go Daddy Secure Certificate Authority - G2',
    country: 'US',
    caa: 'godaddy.com',
  },
  {
    id: 'globalsign',
    weight: 4,
    organisation: 'GlobalSign nv-sa',
    commonName: 'GlobalSign Atlas R3 DV TLS CA 2025 Q1',
    country: 'BE',
    caa: 'globalsign.com',
  },
  {
    id: 'zerossl',
    weight: 3,
    organisation: 'ZeroSSL',
    commonName: 'ZeroSSL ECC Domain Secure Site CA',
    country: 'AT',
    caa: null,
  },
  {
    id: 'entrust',
    weight: 2,
    organisation: 'Entrust, Inc.',
    commonName: 'Entrust Certification Authority - L1K',
    country: 'US',
    caa: 'entrust.net',
  },
];
