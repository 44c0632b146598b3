import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { advise } from "../../domain/advice.ts";
import { InputInvalid } from "../../domain/errors.ts";

export interface TlsFiles {
  /** Certificate chain, as PEM. */
  readonly cert: string;
  readonly key: string;
}

/** Undefined: the server speaks plain HTTP. Invalid files are refused at the start, not at the first handshake. */
export async function readTlsFiles({
  tlsCert,
  tlsKey,
}: {
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
}): Promise<TlsFiles | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined)
    throw new InputInvalid(
      `TLS needs a certificate and its key; ${tlsCert === undefined ? "--tls-cert" : "--tls-key"} is missing.`,
      { advice: "Name both files, as PEM." },
    );
  const [cert, key] = await Promise.all([readPem(tlsCert, "certificate"), readPem(tlsKey, "key")]);
  const certificate = readCertificate(cert, tlsCert);
  if (!certificate.checkPrivateKey(readKey(key, tlsKey)))
    throw new InputInvalid(`The key in ${tlsKey} does not belong to the certificate in ${tlsCert}.`, {
      advice:
        "Name the key that the certificate was made with. A certificate chain begins with the server's own.",
    });
  const validTo = Date.parse(certificate.validTo);
  if (validTo < Date.now())
    throw new InputInvalid(`The certificate in ${tlsCert} expired on ${certificate.validTo}.`, {
      advice: "Renew it, and start again.",
    });
  return { cert, key };
}

export async function readPem(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === "ENOENT" ? "there is no such file" : code === "EACCES" ? "it may not be read" : `${code}`;
    throw new InputInvalid(`The TLS ${what} ${path} cannot be read: ${why}.`, {
      cause: error,
      advice: "Name a PEM file that this user may read.",
    });
  }
}

function readCertificate(pem: string, path: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new InputInvalid(`${path} does not hold a certificate.`, {
      cause: error,
      advice: "A PEM certificate begins with -----BEGIN CERTIFICATE-----.",
    });
  }
}

function readKey(pem: string, path: string): ReturnType<typeof createPrivateKey> {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    const isLocked = pem.includes("ENCRYPTED");
    throw new InputInvalid(
      isLocked
        ? `The key in ${path} is protected by a passphrase, which Maestro does not ask for.`
        : `${path} does not hold a private key.`,
      {
        cause: error,
        advice: isLocked
          ? [advise("Store it without a passphrase, readable by this user only (openssl pkey removes it).")]
          : [advise("A PEM key begins with -----BEGIN PRIVATE KEY-----.")],
      },
    );
  }
}
