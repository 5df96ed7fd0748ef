/** One letter to one address. */
export type Mail = { to: string; subject: string; text: string }

export type Letter = ReturnType<typeof letter>

/** A mail as nodemailer takes it. Addresses go in as objects: nothing in them is parsed as a list or a header. */
export function letter(mail: Mail, from: { name: string; address: string }) {
  return {
    ...mail,
    from,
    to: { name: '', address: mail.to },
    disableUrlAccess: true,
    disableFileAccess: true,
  }
}
