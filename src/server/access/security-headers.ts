/** Nothing is loaded from other origins, nothing inline runs, no page may frame it. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** For bytes that personas produced: opened as a page, they cannot act. */
const downloadPolicy = "default-src 'none'; sandbox; frame-ancestors 'none'";

export const downloadHeaders = (type: string, name: string): Readonly<Record<string, string>> => ({
  "content-type": type,
  "content-disposition": `attachment; filename="${name}"`,
  "content-security-policy": downloadPolicy,
  // A signed-out browser must keep nothing of a session.
  "cache-control": "private, no-store",
});

export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": contentSecurityPolicy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
  "x-robots-tag": "noindex",
};
