// Certificates of the simulated internet: one root, an intermediate per authority, leaves generated on demand.
import 'reflect-metadata';
import { KeyObject, webcrypto } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import * as x509 from '@peculiar/x509';
import type { CertificateKind } from '../companies/plan-type.ts';

/** Passed explicitly: the library's default is global to the process, and libp2p sets another one. */
const crypto = webcrypto as unknown as Crypto;

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;
/** Cached contexts; their memory is outside the heap. */
const MAX_CONTEXTS = 500;

interface Authority {
  readonly certificate: x509.X509Certificate;
  readonly keys: CryptoKeyPair;
}

/** How certificates name an authority. */
interface Authorities {
  of(id: string): { readonly organisation: string; readonly commonName: string; readonly country: string };
}

interface CertificateOptions {
  readonly authority: string;
  readonly kind: CertificateKind;
  /** Names of other companies on the same certificate, before this one's. */
  readonly sharedWith: readonly string[];
}

export class Certificates {
  readonly #root: Authority;
  readonly #leafKeys: CryptoKeyPair;
  readonly #leafPem: string;
  readonly #issuers = new Map<string, Promise<Authority>>();
  readonly #contexts = new Map<string, Promise<SecureContext>>();
  #serial = 1;

  readonly #authorities: Authorities;

  private constructor(root: Authority, leafKeys: CryptoKeyPair, authorities: Authorities) {
    this.#root = root;
    this.#leafKeys = leafKeys;
    const key = KeyObject.from(leafKeys.privateKey as webcrypto.CryptoKey);
    this.#leafPem = String(key.export({ type: 'pkcs8', format: 'pem' }));
    this.#authorities = authorities;
  }

  static async create(authorities: Authorities): Promise<Certificates> {
    const keys = await generate();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned(
      {
        serialNumber: '01',
        name: 'CN=Simulated Internet Root, O=Simulated Internet',
        notBefore: new Date(Date.now() - 3_650 * DAY_MS),
        notAfter: new Date(Date.now() + 3_650 * DAY_MS),
        keys,
        signingAlgorithm: ALGORITHM,
        extensions: [new x509.BasicConstraintsExtension(true, 2, true)],
      },
      crypto,
    );
    const leafKeys = await generate();
    return new Certificates({ certificate, keys }, leafKeys, authorities);
  }

  get rootPem(): string {
    return this.#root.certificate.toString('pem');
  }

  /** The TLS context of a domain; created once per domain, authority and kind. `sharedWith` share the certificate. */
  context(domain: string, { authority, kind, sharedWith }: CertificateOptions): Promise<SecureContext> {
    const key = `${domain} ${authority} ${kind}`;
    let context = this.#contexts.get(key);
    if (!context) {
      if (this.#contexts.size >= MAX_CONTEXTS) this.#contexts.clear();
      context = this.#make(domain, { authority, kind, sharedWith });
      this.#contexts.set(key, context);
    }
    return context;
  }

  async #make(domain: string, { authority, kind, sharedWith }: CertificateOptions): Promise<SecureContext> {
    const issuer = await this.#issuer(authority);
    const name = kind === 'wrong-name' ? `other.${authority}.example` : domain;
    const notAfter = new Date(Date.now() + (kind === 'expired' ? -5 : 60) * DAY_MS);
    const common = {
      serialNumber: this.#nextSerial(),
      notBefore: new Date(notAfter.getTime() - 90 * DAY_MS),
      notAfter,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false),
        new x509.SubjectAlternativeNameExtension([
          ...[...sharedWith, name, `www.${name}`].map((value) => ({ type: 'dns' as const, value })),
        ]),
      ],
    };
    if (kind === 'self-signed') {
      const own = await x509.X509CertificateGenerator.createSelfSigned(
        {
          ...common,
          name: `CN=${domain}`,
          keys: this.#leafKeys,
        },
        crypto,
      );
      return createSecureContext({ key: this.#leafPem, cert: own.toString('pem') });
    }
    const leaf = await x509.X509CertificateGenerator.create(
      {
        ...common,
        subject: `CN=${name}`,
        issuer: issuer.certificate.subject,
        publicKey: this.#leafKeys.publicKey,
        signingKey: issuer.keys.privateKey,
      },
      crypto,
    );
    return createSecureContext({
      key: this.#leafPem,
      cert: `${leaf.toString('pem')}\n${issuer.certificate.toString('pem')}`,
    });
  }

  #issuer(id: string): Promise<Authority> {
    let issuer = this.#issuers.get(id);
    if (!issuer) {
      issuer = this.#makeIssuer(id);
      this.#issuers.set(id, issuer);
    }
    return issuer;
  }

  async #makeIssuer(id: string): Promise<Authority> {
    const { organisation, commonName, country } = this.#authorities.of(id);
    const keys = await generate();
    const certificate = await x509.X509CertificateGenerator.create(
      {
        serialNumber: this.#nextSerial(),
        subject: [{ C: [country] }, { O: [organisation] }, { CN: [commonName] }],
        issuer: this.#root.certificate.subject,
        notBefore: new Date(Date.now() - 1_000 * DAY_MS),
        notAfter: new Date(Date.now() + 1_000 * DAY_MS),
        publicKey: keys.publicKey,
        signingKey: this.#root.keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [new x509.BasicConstraintsExtension(true, 0, true)],
      },
      crypto,
    );
    return { certificate, keys };
  }

  #nextSerial(): string {
    this.#serial += 1;
    return this.#serial.toString(16).padStart(4, '0');
  }
}

async function generate(): Promise<CryptoKeyPair> {
  return (await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ])) as unknown as CryptoKeyPair;
}
