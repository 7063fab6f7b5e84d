"""The sample's own data: payments, customers, invoices, manifests, and everything that was done to them."""
